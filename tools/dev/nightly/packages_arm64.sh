#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The packages for arm64, made on amd64, installed in a fresh Debian 12 root that has arm64 as a foreign architecture,
# and used there under qemu-user (packages_arm64_inside.sh): models on a private and on a hosted card, the ONNXIFI
# library of both ABIs. Every output must have the bytes that the programs of this machine compute. heddle.ko is
# compiled for Debian's arm64 kernel, without a warning. Needs root and Linux 6.7 (tools/setup/arm64_programs.sh).
#
#   ./dev nightly packages-arm64 [--staged] [--keep] [--root=DIR]
#
#   --staged    with what is in out/ of this machine's, without building that
#   --keep      leave the root for a look inside
#   --root=DIR  a minimal root that is there already (it is copied), instead of a fresh one
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
# shellcheck source=tools/setup/debian_root.sh
source tools/setup/debian_root.sh
# shellcheck source=tools/setup/arm64_programs.sh
source tools/setup/arm64_programs.sh

staged=() keep=0 from=""
for argument in "$@"; do
  case "$argument" in
    --staged) staged=(--staged) ;;
    --keep) keep=1 ;;
    --root=*) from="${argument#--root=}" ;;
    *) debian_root_die "unknown option $argument" ;;
  esac
done

scratch="$(mktemp -d "${TMPDIR:-/var/tmp}/heddle-arm64.XXXXXX")"
root="$scratch/root"
finish() {
  if [[ "$keep" == 1 ]]; then
    printf 'packages-arm64: the root is %s\n' "$root"
  else
    rm -rf --one-file-system "$scratch"
  fi
}
trap finish EXIT

started=$SECONDS
passed() {
  printf '%6d s  ok      %s\n' $((SECONDS - started)) "$1"
  started=$SECONDS
}

./dev package "${staged[@]}" --arch=arm64 --to="$scratch/packages"
passed "./dev package --arch=arm64"

if [[ -n "$from" ]]; then
  cp -a --one-file-system "$from" "$root"
else
  make_debian_root "$root" "$scratch/debootstrap.log"
fi
passed "a minimal Debian $DEBIAN_ROOT_SUITE"

# What is run there, and what this machine computes: lines NAME MODEL OPTIONS, for both.
work="$root/packages"
declare -A shapes=([silero_vad_16k]="--shape batch=1 --shape sequence=512")
mkdir -p "$work/models" "$work/expected"
cp "$scratch"/packages/*_arm64.deb tools/dev/nightly/packages_arm64_inside.sh "$work/"
cp out/share/heddle/digits/*.onnx "$work/models/"
{
  printf '%s\n' "int8 digits_int8.onnx" "fp32 digits_fp32.onnx" "host digits_fp32.onnx --place host"
  # Trained networks that are more than layers of one kind, where they are at hand.
  for model in dtln_1 silero_vad_16k; do
    file="${HEDDLE_SHARED:-../shared}/models/$model/model.onnx"
    [[ -f "$file" ]] || continue
    cp "$file" "$work/models/$model.onnx"
    printf '%s\n' "$model $model.onnx ${shapes[$model]:-}" "$model-host $model.onnx --place host ${shapes[$model]:-}"
  done
} >"$work/runs.txt"
while read -r name model options; do
  # shellcheck disable=SC2086  # words
  out/bin/heddle-run "$work/models/$model" --no-cache --device sim --outputs "$work/expected/$name" $options \
    </dev/null >"$scratch/log" 2>&1 || debian_root_die "amd64: $(cat "$scratch/log")"
  # shellcheck disable=SC2086
  out/bin/heddle-compile "$work/models/$model" -o "$work/expected/$name.hpk" $options </dev/null >"$scratch/log" 2>&1 ||
    debian_root_die "amd64: $(cat "$scratch/log")"
done <"$work/runs.txt"
cp -r out/share/heddle/driver "$work/driver"
passed "what this machine computes: $(wc -l <"$work/runs.txt") runs and packages"

run_in_root "$root" bash /packages/packages_arm64_inside.sh install
run_arm64_in_root "$root" bash /packages/packages_arm64_inside.sh use
run_in_root "$root" bash /packages/packages_arm64_inside.sh module
passed "installed, used, and the module compiled"
