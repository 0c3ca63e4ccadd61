#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh TEST: TEST, a GoogleTest program, must end by itself and name a check that failed.
set -u
# Its report would count as this test's.
unset XML_OUTPUT_FILE GTEST_OUTPUT
out=$("$1" --gtest_fail_fast 2>&1)
status=$?
echo "$out" | tail -n 30
if [ "$status" = 0 ]; then
  echo "the fault survived" >&2
  exit 1
fi
if [ "$status" != 1 ] || ! echo "$out" | grep -q '^ *[0-9]* FAILED TEST'; then
  echo "no check failed, the test died (status $status)" >&2
  exit 1
fi
