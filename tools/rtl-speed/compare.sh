#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh COMMIT [NETWORK ...]: the speed of simulation of this tree against that of COMMIT, on this
# machine, in one run: both are built, and their programs run in alternation.
#
#   tools/rtl-speed/compare.sh a0c9046 resnet8 squeezenet
#
# Per network and program (core, card): cycles of both (each compiles the network with its own compiler),
# Mcycles per second of user CPU time (median of the rounds), and new over old.
#
#   ROUNDS=5                      rounds
#   BUILD_OPTIONS=                of Bazel, for both, e.g. --config=profiled
#
# COMMIT is checked out in a temporary worktree and built with its own ./dev. Runs from the root of the
# repository; takes minutes of building.
set -euo pipefail

if [[ $# -lt 1 || "$1" == -* ]]; then
  sed -n '3,16s/^# \{0,1\}//p' "$0"
  exit 2
fi
commit="$1"
shift
[[ $# -gt 0 ]] || set -- resnet8 squeezenet
cd "$(dirname "$0")/../.."
work="$(mktemp -d)"
trap 'git worktree remove --force "$work/tree" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/tree" "$commit"
[[ ! -e .bazelrc.user ]] || cp .bazelrc.user "$work/tree/"

# build NAME TREE
build() {
  local bin what targets=(//tools/rtl-speed:core_speed //tools/rtl-speed:card_speed)
  (
    cd "$2"
    export HEDDLE_ROOT="$PWD" HEDDLE_CALLER_DIR="$PWD"
    # shellcheck source=/dev/null
    source tools/dev/common.sh
    # shellcheck disable=SC2086
    run_bazel build ${BUILD_OPTIONS:-} "${targets[@]}"
    # shellcheck disable=SC2086
    bin="$(run_bazel info ${BUILD_OPTIONS:-} bazel-bin 2>/dev/null)"
    for what in core card; do
      cp -L "$bin/tools/rtl-speed/${what}_speed" "$work/$1_$what"
    done
  )
}
build old "$work/tree"
build new "$PWD"

for ((round = 0; round < ${ROUNDS:-5}; ++round)); do
  for what in core card; do
    for which in old new; do
      "$work/${which}_$what" --repeat=1 "$@" | tail -n +2 | sed "s/^/$which $what /"
    done
  done
done >"$work/runs"

python3 - "$work/runs" <<'PYTHON'
import collections
import statistics
import sys

speeds, cycles = collections.defaultdict(list), {}
for line in open(sys.argv[1]):
    which, what, network, count, speed = line.split()
    speeds[network, what, which].append(float(speed))
    cycles[network, what, which] = count
print(f"{'network':16} {'of':5} {'cycles old':>12} {'new':>12} {'Mcycle/s old':>13} {'new':>6} {'ratio':>6}")
for network, what in dict.fromkeys(key[:2] for key in speeds):
    old, new = (statistics.median(speeds[network, what, w]) for w in ("old", "new"))
    of_old, of_new = (cycles[network, what, w] for w in ("old", "new"))
    print(f"{network:16} {what:5} {of_old:>12} {of_new:>12} {old:13.3f} {new:6.3f} {new / old:6.2f}")
PYTHON
