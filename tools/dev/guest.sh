# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev guest: a shell in a stock Debian kernel with virtual cards and heddle.ko.

heddle_guest() {
  ensure_setup
  make_scratch
  # Bazel makes the script, and is gone when it runs: the terminal is the guest's.
  run_bazel run --script_path="$HEDDLE_SCRATCH/run" //tests/guest:shell
  "$HEDDLE_SCRATCH/run" "$@"
}
