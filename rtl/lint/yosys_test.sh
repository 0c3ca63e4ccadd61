#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reads the given SystemVerilog files (packages first) with yosys and checks the core (TOP names another module).
set -eu
if ! command -v yosys > /dev/null; then
  echo "yosys is not installed (apt-get install yosys): nothing was checked" >&2
  exit 1
fi
top=${TOP:-hd_core}
exec yosys -q -p "read_verilog -sv $*; hierarchy -check -top $top; proc; check -assert"
