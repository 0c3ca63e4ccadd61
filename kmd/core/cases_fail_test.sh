#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Cases that must fail (cases/heddle_must_fail_cases.c) do, each by its name, and say where and why:
#   cases_fail_test.sh PROGRAM
set -euo pipefail
out="$TEST_TMPDIR/out"
status=0
# Without a report: these failures are nobody's.
env -u XML_OUTPUT_FILE "$1" --gtest_color=no >"$out" || status=$?
cat "$out"
[[ "$status" == 1 ]] || {
  echo "the program ended with $status"
  exit 1
}
line() { grep -nF -- "$1" "$source" | cut -d: -f1; }
source=kmd/core/cases/heddle_must_fail_cases.c
for wanted in \
  "4 FAILED TESTS" \
  "[  FAILED  ] heddle_must_fail.a_condition_does_not_hold" \
  "[  FAILED  ] heddle_must_fail.values_differ" \
  "[  FAILED  ] heddle_must_fail.a_number_is_not_its_complement" \
  "[  FAILED  ] heddle_must_fail.a_row_of_a_table_is_wrong" \
  "$source:$(line "HEDDLE_EXPECT(t, !t);"): Failure" \
  "$source:$(line "HEDDLE_EXPECT_EQ(t, 7, -EINVAL);"): Failure" \
  "left:  7 (0x7)" \
  "right: -22 (0xffffffffffffffea)" \
  "left:  4294967295 (0xffffffff)" \
  "row:   third of three, 2 (0x2)"; do
  grep -qF -- "$wanted" "$out" || {
    echo "missing: $wanted"
    exit 1
  }
done
