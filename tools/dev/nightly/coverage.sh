#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the tests of the RTL reach: lines by random streams in lockstep (20,000 commands, or $1), streams
# with faults and compiled networks on h256, and by the units' own tests, those of other configurations
# included. Bits of signals only if asked for, by $2 random commands: the model that counts them is
# 44 MB of C++, which takes longer to compile than everything else here, and some hundred times slower
# than the core. Prints a table per module and every line that was not reached; fails if one of them has
# no reason in rtl/lint/coverage_exceptions.txt. Instructions and modes: what the random streams did not
# exercise is printed before (--coverage).
set -eu
cd "$(dirname "$0")/../../.."
commands=${1:-20000}
toggle_commands=${2:-0}
build=${HEDDLE_BAZEL:-bazel}
# Every unit with a test, and its variants; hd_card is the core once more.
units=$($build query 'filter("_lines$", kind(cc_binary, //rtl:all)) except //rtl:hd_card_lines' |
  sed 's|^//rtl:||' | sort)
targets="//tests/lockstep:random_lockstep_lines //tests/lockstep:package_lockstep_lines"
for unit in $units; do targets="$targets //rtl:$unit"; done
[ "$toggle_commands" = 0 ] || targets="$targets //tests/lockstep:random_lockstep_toggles"
# shellcheck disable=SC2086
$build build $targets
bin=$($build info bazel-bin)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# run FILE PROGRAM ARGUMENTS...: counts go to FILE; its output is shown if it fails.
run() {
  file=$1
  shift
  if ! HEDDLE_COVERAGE_FILE="$scratch/$file" "$@" > "$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "failed: $*" >&2
    status=1
  fi
}

random=$bin/tests/lockstep/random_lockstep
run random.lines "${random}_lines" --config=h256 --commands="$commands" --length=1000 --coverage \
  --gtest_filter='*CoreIsModel'
cat "$scratch/log"
run faults.lines "${random}_lines" --config=h256 --gtest_filter='*FaultsAreEqual'
run networks.lines "$bin/tests/lockstep/package_lockstep_lines" --config h256 \
  autoencoder ds_cnn resnet8
for unit in $units; do run "$unit.lines" "$bin/rtl/$unit"; done
toggles=
if [ "$toggle_commands" != 0 ]; then
  run random.toggles "${random}_toggles" --config=h256 --commands="$toggle_commands" --length=100 \
    --gtest_filter='*CoreIsModel'
  toggles="--toggles $scratch/random.toggles"
fi
verilator_coverage --write "$scratch/all.lines" "$scratch"/*.lines
# shellcheck disable=SC2086
python3 rtl/coverage/report.py --exceptions rtl/lint/coverage_exceptions.txt $toggles \
  -- "$scratch/all.lines" || status=1
exit $status
