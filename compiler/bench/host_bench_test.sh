#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `./dev bench host` prints a profile with every rate: each kind of work has cases that have it.
set -euo pipefail
profile="$("$1" --repeat 1 --name tried)"
printf '%s\n' "$profile"
grep -qx 'heddle-host-profile 1' <<<"$profile"
grep -qx 'name tried' <<<"$profile"
for rate in node_ns byte_ns element_ns instruction_ns mac_float_ns mac_int_ns row_ns; do
  grep -Eq "^$rate [0-9.e+-]*[1-9]" <<<"$profile" || {
    echo "no $rate" >&2
    exit 1
  }
done
