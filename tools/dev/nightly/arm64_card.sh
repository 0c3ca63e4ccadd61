#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The card of arm64 beside this machine's: tests of its arithmetic, heddle-sim and heddle-hosted are compiled for arm64 and
# run under qemu-user in the root of tools/setup/arm64_root.sh; this machine's heddle-run uses that card and a card of
# its own, which must give the same bytes.
#
#   ./dev nightly arm64-card       needs out/ (./dev build), root, and Linux 6.7 (tools/setup/arm64_programs.sh)
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
# shellcheck source=tools/dev/common.sh
source tools/dev/common.sh
# shellcheck source=tools/setup/debian_root.sh
source tools/setup/debian_root.sh
# shellcheck source=tools/setup/arm64_programs.sh
source tools/setup/arm64_programs.sh

[[ -x out/bin/heddle-run ]] || die "there is no out/bin/heddle-run; run ./dev build"
started=$SECONDS
passed() {
  printf '%6d s  ok      %s\n' $((SECONDS - started)) "$1"
  started=$SECONDS
}

root="$(tools/setup/arm64_root.sh)"
passed "a root with arm64's libraries"

tests=(//simulator/model:numerics_test //simulator/model:kernels_test)
programs=(//simulator/platform:heddle-sim //kmd/hosted:heddle-hosted)
run_bazel build --config=arm64 --build_tests_only=no "${tests[@]}" "${programs[@]}"
bin="$(run_bazel info --config=arm64 bazel-bin)"
passed "compiled for arm64"

scratch="$(mktemp -d "$root/tmp/card.XXXXXX")"
card=""
finish() {
  [[ -z "$card" ]] || kill "$card" 2>/dev/null || true
  rm -rf "$scratch"
}
trap finish EXIT
inside="${scratch#"$root"}"
for label in "${tests[@]}" "${programs[@]}"; do
  file="${label#//}"
  cp "$bin/${file/://}" "$scratch/"
done

for label in "${tests[@]}"; do
  run_arm64_in_root "$root" "$inside/${label#*:}" >"$scratch/log" 2>&1 || die "$(tail -n 30 "$scratch/log")"
  passed "$label: $(grep PASSED "$scratch/log")"
done

# shellcheck disable=SC2016  # expanded by the inner shell
run_arm64_in_root "$root" bash -euc 'cd "$1"
  ./heddle-sim --socket card --core rtl >rtl.log 2>&1 && exit 1
  ./heddle-sim --socket card &
  while [[ ! -S card ]]; do sleep 0.1; done
  ./heddle-hosted --socket hosted --card card --log warn &
  wait' card "$inside" >"$scratch/card.log" 2>&1 &
card=$!
for ((i = 0; i < 300; ++i)); do
  [[ ! -S "$scratch/hosted" ]] || break
  kill -0 "$card" 2>/dev/null || die "the card: $(cat "$scratch/card.log")"
  sleep 0.1
done
grep -q 'this build has no RTL card of configuration' "$scratch/rtl.log" || die "--core rtl: $(cat "$scratch/rtl.log")"
passed "arm64's card; one in RTL is refused by name"

# run FOLDER DEVICE MODEL OPTIONS: outputs to the folder.
run() {
  out/bin/heddle-run "$3" --device "$2" --no-cache --outputs "$scratch/$1" "${@:4}" >"$scratch/log" 2>&1 </dev/null ||
    die "$(cat "$scratch/log")"
}

models=(out/share/heddle/digits/digits_int8.onnx out/share/heddle/digits/digits_fp32.onnx)
# Where they are at hand: integer and float networks, some with nodes on the host.
for model in dtln_1 mobilenetv2_qdq qtdnn silero_vad_16k squeezenet1_0_fp16; do
  file="$(shared_folder)/models/$model/model.onnx"
  [[ ! -f "$file" ]] || models+=("$file")
done
for model in "${models[@]}"; do
  options=()
  data="$(dirname "$model")/test_data_set_0"
  [[ ! -d "$data" ]] || options=(--data "$data")
  run own sim "$model" "${options[@]}"
  run arm64 "hosted:$scratch/hosted" "$model" "${options[@]}"
  grep -q 'hosted:' "$scratch/log" || die "another card: $(cat "$scratch/log")"
  diff -r "$scratch/own" "$scratch/arm64" || die "$model: arm64 computes other bytes"
  passed "$model: $(cat "$scratch/arm64"/* | sha256sum | cut -c1-16), as on $(uname -m)"
  rm -rf "$scratch/own" "$scratch/arm64"
done
