#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# netlist.sh OUT TOP PARAMS FILE...: the Verilog of what yosys makes of module TOP and all below it.
#
# PARAMS   "" or "K=32 C=32". The netlist is for these values; it declares the parameters, so that it
#          fits in place of its source, and does not elaborate with others.
# FILE     SystemVerilog, packages first; others (waivers) are left out.
#
# Elaboration, processes to registers and multiplexers, optimisation, state machines coded anew,
# memories collected; nothing is mapped to gates. Not wreduce: it leaves nets that drive parts of
# themselves, which Verilator takes for loops and is slow with.
set -eu
out=$1 top=$2 params=$3
shift 3
command -v yosys > /dev/null || { echo "yosys is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

files=
for file in "$@"; do
  case $file in *.sv) files="$files $file" ;; esac
done
set_params=
: > "$work/declared"
for param in $params; do
  name=${param%%=*} value=${param#*=}
  set_params="$set_params -chparam $name $value"
  echo "  parameter $name = $value;" >> "$work/declared"
  echo "  if ($name != $value) netlist_for_another_$name wrong();" >> "$work/declared"
done

# A net of which several cells drive parts is split: it looks like a loop to Verilator, too, and 5.006
# evaluates such nets wrongly where one drives another (a change that comes from an input is lost).
# No opt_clean behind it, which joins the parts again: a RAM's mask of write enables drives itself.
yosys -q -l "$work/log" -p "read_verilog -sv -defer $files; hierarchy -check -top $top $set_params;
  rename -top $top; proc; opt_expr; opt_clean; check -assert; opt; fsm; opt; memory -nomap; opt;
  splitnets -driver; write_verilog -noattr $work/netlist.v" > /dev/null 2>&1 ||
  { tail -n 5 "$work/log" >&2; exit 1; }

awk -v head="module $top(" -v declared="$work/declared" '
  index($0, head) == 1 { inside = 1; found++ }
  { print }
  inside && /\);$/ { while ((getline line < declared) > 0) print line; inside = 0 }
  END { exit found != 1 }' "$work/netlist.v" > "$out" || { echo "no module $top in the netlist" >&2; exit 1; }
