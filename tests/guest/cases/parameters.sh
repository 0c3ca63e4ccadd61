#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module's parameters are read, and changed when it is loaded only: null_submission on a card with
# jobs on it would call memory ready that nobody has made so.
. tests/guest/cases/common.sh
folder=/sys/module/heddle/parameters
for name in null_hw null_submission run_cycles timeout_ms; do
  mode="$(stat -c %a "$folder/$name")"
  [ "$mode" = 400 ] || fail "$name has the mode $mode"
done
