#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lints a module and what it uses with Verilator's -Wall: the waivers, then all sources of the module and no other.
# What is missing is an error; so is a module that none of the others uses, since it is a second top (MULTITOP), and
# a package that no other source names.
set -eu
verilator --lint-only -Wall "$@"
shift
for file in "$@"; do
  name=$(basename "$file" .sv)
  case $name in *_pkg) ;; *) continue ;; esac
  sed 's|//.*||' "$@" | grep -q "\<$name::" || { echo "lint: nothing uses $name" >&2; exit 1; }
done
