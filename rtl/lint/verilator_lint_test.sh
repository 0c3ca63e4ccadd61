#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lints every module of the given SystemVerilog files (packages first) with Verilator's -Wall, each
# as the top. First argument: the waivers.
set -eu
waivers=$1
shift
tops=0
failed=
for file in "$@"; do
  case $file in *_pkg.sv) continue ;; esac
  top=$(basename "$file" .sv)
  tops=$((tops + 1))
  verilator --lint-only -Wall --top-module "$top" "$waivers" "$@" || failed="$failed $top"
done
[ "$tops" -gt 10 ] || { echo "only $tops modules found: nothing was checked" >&2; exit 1; }
[ -z "$failed" ] || { echo "lint: failed for$failed" >&2; exit 1; }
echo "$tops modules are clean"
