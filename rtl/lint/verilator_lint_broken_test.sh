#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lint accepts exactly the sources that a module needs: verilator_lint_broken_test.sh LINT WAIVERS HEDDLE_PKG
# OTHER_PKG OTHER_MODULE PART TOP, where TOP uses HEDDLE_PKG and PART.
set -eu
lint=$1 waivers=$2 package=$3 other_package=$4 other=$5 part=$6 top=$7

# fails TEXT FILE...: the lint of these files fails, and says so.
fails() {
  text=$1
  shift
  if sh "$lint" "$waivers" "$@" > "$TEST_TMPDIR/log" 2>&1 || ! grep -q "$text" "$TEST_TMPDIR/log"; then
    cat "$TEST_TMPDIR/log" >&2
    echo "not found: $text" >&2
    exit 1
  fi
}

sh "$lint" "$waivers" "$package" "$part" "$top"
fails "Cannot find file containing module" "$package" "$top"
fails "not found" "$part" "$top"
fails MULTITOP "$package" "$part" "$top" "$other"
fails "nothing uses" "$package" "$other_package" "$part" "$top"
fails "No top level module"
