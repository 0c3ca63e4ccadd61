#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which lines of onnxifi/ the conformance kit reaches, over both of our libraries on a hosted card that is unplugged and
# broken, and on a private one, with ONNX's node suite. Prints a table, and the lines that were not reached by
# function, each with its reason
# from onnxifi/unreached.txt; fails if one has none. Kills and crashes cost nothing: the counts are in files that the
# processes share with the kernel.
#   onnxifi_coverage.sh [SELECTION OF THE KIT, e.g. --group io]
set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=tools/dev/common.sh
export HEDDLE_CALLER_DIR=${HEDDLE_CALLER_DIR:-$PWD}
source tools/dev/common.sh
nodes=/usr/share/libonnx-testdata/data/node
scratch=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$scratch"' EXIT
# build OPTION... TARGET...: into the scratch folder, by the names that they have in Bazel's.
build() {
  local option bin target options=()
  for option; do [[ $option == //* ]] || options+=("$option"); done
  run_bazel build "$@"
  bin=$(run_bazel info "${options[@]}" bazel-bin 2>/dev/null)
  for target; do
    [[ $target == //* ]] || continue
    target=${target#//}
    mkdir -p "$(dirname "$scratch/${target/://}")"
    cp -L "$bin/${target/://}" "$scratch/${target/://}"
  done
}
# Nothing but the libraries counts: what the kit runs is what it always is.
build //onnxifi/conformance:onnxifi-conformance //simulator/platform:heddle-sim //kmd/hosted:heddle-hosted \
  //tests/onnxifi:libheddle-provoker.so
instrument='onnxifi/[a-z_0-9]*\.cc@-fprofile-instr-generate,-fcoverage-mapping,-mllvm,-runtime-counter-relocation,-g0'
build "--per_file_copt=$instrument" --linkopt=-fprofile-instr-generate \
  //onnxifi:libonnxifi-heddle.so //onnxifi:onnx1/libonnxifi-heddle.so
mkdir "$scratch/counts"
export HEDDLE_BIN_DIR="$scratch/kmd/hosted:$scratch/simulator/platform"
"$scratch/simulator/platform/heddle-sim" --socket "$scratch/card" --control "$scratch/control" &
"$scratch/kmd/hosted/heddle-hosted" --socket "$scratch/heddle" --card "$scratch/card" 2> "$scratch/log" &
for ((i = 0; i < 100; ++i)); do
  grep -q "device memory" "$scratch/log" && break
  sleep 0.1
done
export HEDDLE_PROVOKE_CONTROL=$scratch/control LLVM_PROFILE_FILE="$scratch/counts/%p%c.profraw"
for library in libonnxifi-heddle.so onnx1/libonnxifi-heddle.so; do
  for device in "hosted:$scratch/heddle" sim; do
    # Nothing can be done to a private card.
    provoker=()
    [[ $device == sim ]] || provoker=(--provoker "$scratch/tests/onnxifi/libheddle-provoker.so")
    HEDDLE_DEVICE=$device "$scratch/onnxifi/conformance/onnxifi-conformance" --lib "$scratch/onnxifi/$library" \
      --timeout 120 "${provoker[@]}" "$@" > "$scratch/said" || true
    # What fails here fails because of the counting, or in ./dev nightly conformance, too.
    grep -A 1 '^  fail ' "$scratch/said" || true
    echo "$library on ${device%%:*}: $(grep "^[0-9]* cases\?: " "$scratch/said")"
  done
done
# Of ONNX's node suite, where there is one.
if [[ -d $nodes && $# == 0 ]]; then
  echo "node suite: $(HEDDLE_DEVICE=hosted:$scratch/heddle "$scratch/onnxifi/conformance/onnxifi-conformance" \
    --lib "$scratch/onnxifi/libonnxifi-heddle.so" --nodes "$nodes" --group nodes \
    --waivers tests/onnxifi/waivers.txt | grep '^[0-9]* cases\?: ')"
fi
find "$scratch/counts" -name '*.profraw' > "$scratch/list"
llvm-profdata merge -sparse --failure-mode=all -f "$scratch/list" -o "$scratch/counts.profdata"
llvm-cov export -format=lcov -instr-profile="$scratch/counts.profdata" "$scratch/onnxifi/libonnxifi-heddle.so" \
  -object "$scratch/onnxifi/onnx1/libonnxifi-heddle.so" > "$scratch/lines"
python3 tools/dev/nightly/unreached.py "$scratch/lines" onnxifi/unreached.txt
