#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Random sequences of calls, and those that failed once, on a library: no finding. With MUTANT, rules broken round the
# library are found, and the file that is written finds them again.
#   fuzz_test.sh KIT LIBRARY ABI SEQUENCES REPLAYS [MUTANT]
# SEED: of the sequences. Several processes share them, and all are done.
set -euo pipefail
kit=$PWD/$1
library=$PWD/$2
abi=$3
sequences=$4
replays=$PWD/$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Of our libraries, on a private card (the fake one has its own).
export HEDDLE_BIN_DIR="$PWD/kmd/hosted:$PWD/simulator/platform" HEDDLE_DEVICE="${HEDDLE_DEVICE:-sim}"
export HEDDLE_LOG="${HEDDLE_LOG:-off}"
status=0
"$kit" --lib "$library" --abi "$abi" --timeout 60 --fuzz "$sequences" --seed "${SEED:-1}" --fuzz-jobs 3 \
  --replay "$replays" --keep "${TEST_UNDECLARED_OUTPUTS_DIR:-$folder}" | tee "$folder/said" || status=$?
grep -q "replays, $sequences sequences, .* seed ${SEED:-1}: 0 findings$" "$folder/said" || status=1
[[ $status == 0 ]] || {
  cat "$folder"/*.txt 2>/dev/null || true
  exit 1
}
[[ -n ${6:-} ]] || exit 0
export ONNXIFI_MUTANT_LIBRARY=$library ONNXIFI_MUTANT_ABI=$abi
# (Rules that are broken in one order of the threads only are found, too, but not for certain. A finding may be such a
# one by chance, where threads met: then it neither shrinks nor comes again, and another seed begins with another.)
for mutant in events_signal_twice ids_release_twice release_graph_twice runs_before_io_is_graph; do
  replayed=
  for seed in 1 2 3 4; do
    status=0
    said=$(ONNXIFI_MUTANT=$mutant "$kit" --lib "$PWD/$6" --abi "$abi" --timeout 10 --fuzz 300 --seed "$seed" --fuzz-findings 1 \
      --keep "$folder" 2>&1) || status=$?
    [[ $status == 1 && $said == *" calls: "* ]] || {
      echo "FAILED: $mutant is not found ($status): $said" >&2
      exit 1
    }
    file=$(grep -o -- '--replay .*' <<<"$said" | head -n 1 | cut -d ' ' -f 2)
    calls=$(grep -vc '^#' "$file")
    status=0
    ONNXIFI_MUTANT=$mutant "$kit" --lib "$PWD/$6" --abi "$abi" --timeout 10 --replay "$file" >/dev/null 2>&1 || status=$?
    if [[ $status == 1 && $calls -le 20 ]]; then
      replayed=$seed
      break
    fi
    echo "$mutant: seed $seed: $calls calls, replayed $status" >&2
  done
  [[ -n $replayed ]] || {
    echo "FAILED: $mutant: no finding that comes again: $(cat "$file")" >&2
    exit 1
  }
  echo "$mutant: found, $calls calls"
done
