#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Programs and packages of release 0.1 and of this tree against each other: every library (heddle-run is linked with
# it) on every driver (heddle-hosted) of every card (heddle-sim), with packages that every compiler has made. Each
# either computes what its own release computes, or ends soon with one sentence that says what does not fit.
#
#   ./dev nightly mixed-versions [--old=PREFIX] [--new=PREFIX]
#
#   --old=PREFIX  staged programs of 0.1; otherwise they are built from its commit in a worktree that goes again
#   --new=PREFIX  staged programs of this tree [out/, built]
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."

# shellcheck source=tools/dev/nightly/old_release.sh
source tools/dev/nightly/old_release.sh

SECONDS_EACH=60

die() {
  printf 'mixed-versions: error: %s\n' "$*" >&2
  exit 1
}

old="" new=""
for argument in "$@"; do
  case "$argument" in
    --old=*) old="$(realpath "${argument#--old=}")" ;;
    --new=*) new="$(realpath "${argument#--new=}")" ;;
    *) die "unknown option $argument" ;;
  esac
done

scratch="$(mktemp -d "${TMPDIR:-/tmp}/mixed.XXXXXX")"
children=()
finish() {
  [[ ${#children[@]} == 0 ]] || kill "${children[@]}" 2>/dev/null || true
  wait
  [[ ! -d "$scratch/tree" ]] || git worktree remove --force "$scratch/tree"
  rm -rf "$scratch"
}
trap finish EXIT

if [[ -z "$new" ]]; then
  ./dev build
  new="$PWD/out"
fi
if [[ -z "$old" ]]; then
  build_old_release "$scratch/tree" || die "release 0.1 does not build"
  old="$scratch/tree/out"
fi

model="$new/share/heddle/digits/digits_int8.onnx"
input="$new/share/heddle/digits/digits_test.u8"
labels="$new/share/heddle/digits/digits_test.i32"
declare -A prefix=([old]="$old" [new]="$new")
releases=(old new)
for release in "${releases[@]}"; do
  "${prefix[$release]}/bin/heddle-compile" "$model" -o "$scratch/$release.hpk" >"$scratch/log" 2>&1 ||
    die "the compiler of the $release release: $(cat "$scratch/log")"
done
# What only this tree's packages may have: a node on the host, which 0.1 does not know.
host_model="$PWD/compiler/package/fuzz_seeds/host.hpk"

# until_there FILE: a socket that a child makes.
until_there() {
  for ((i = 0; i < 600; ++i)); do
    [[ ! -S "$1" ]] || return 0
    sleep 0.1
  done
  return 1
}

bad=0 works=0 refused=0
# judge NAME WANTED COMMAND...: it ends well and says WANTED, or it ends with one sentence.
judge() {
  local name="$1" wanted="$2" status=0 verdict said
  shift 2
  timeout -k 5 "$SECONDS_EACH" "$@" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
  # Not what a program says of a run that goes on.
  said="$(grep -E 'error|refused|version' "$scratch/stderr" | tail -n 1 || true)"
  if [[ $status == 0 ]] && grep -q -- "$wanted" "$scratch/stdout"; then
    verdict="works" works=$((works + 1)) said=""
  elif [[ $status -ge 124 || $status == 0 || -z "$said" ]]; then
    verdict="FAILED (exit $status)" bad=$((bad + 1)) said="$(cat "$scratch/stdout" "$scratch/stderr")"
  else
    verdict="refused" refused=$((refused + 1))
  fi
  printf '%-60s %s%s\n' "$name" "$verdict" "${said:+: $said}"
}

# use LIBRARY DEVICE WHERE: what that release's heddle-run makes of all packages, and of the model.
use() {
  local run="${prefix[$1]}/bin/heddle-run" package
  local data=(--images "$input" --labels "$labels" --dims "1,28,28" --limit 20 --device "$2")
  for package in "${releases[@]}"; do
    judge "library $1, package $package, $3" "top-1 20" "$run" "$scratch/$package.hpk" "${data[@]}"
  done
  judge "library $1, ONNX model, $3" "top-1 20" "$run" "$model" "${data[@]}"
  judge "library $1, package new with a host node, $3" "^device" "$run" "$host_model" --device "$2"
}

for card in "${releases[@]}"; do
  for driver in "${releases[@]}"; do
    at="$scratch/$card-$driver"
    # Some releases wait for the one, others for the other.
    "${prefix[$card]}/bin/heddle-sim" --socket "$at.card" >"$at.sim" 2>&1 &
    children+=($!)
    until_there "$at.card" || die "heddle-sim of the $card release: $(cat "$at.sim")"
    "${prefix[$driver]}/bin/heddle-hosted" --socket "$at.sock" --card "$at.card" >"$at.log" 2>&1 &
    children+=($!)
    if ! until_there "$at.sock"; then
      printf '%-60s %s\n' "driver $driver, card $card" "FAILED: no socket: $(cat "$at.log")"
      bad=$((bad + 1))
      continue
    fi
    for library in "${releases[@]}"; do
      use "$library" "hosted:$at.sock" "driver $driver, card $card"
    done
  done
done
printf '%d combinations: %d work, %d are refused with a sentence, %d FAILED\n' \
  $((works + refused + bad)) "$works" "$refused" "$bad"
[[ $bad == 0 ]]
