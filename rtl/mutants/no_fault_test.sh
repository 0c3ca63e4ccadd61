#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# killed.sh (first argument) on a test that passes (second) and on a program that is no test.
set -eu
if sh "$1" "$2" 2> killed.log; then
  echo "killed.sh calls a test without a fault killed" >&2
  exit 1
fi
grep -q "the fault survived" killed.log
if sh "$1" false 2> killed.log; then
  echo "killed.sh calls a crash killed" >&2
  exit 1
fi
grep -q "the test died" killed.log
