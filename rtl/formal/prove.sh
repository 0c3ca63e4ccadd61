#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves the immediate assertions of a SystemVerilog top with yosys and ABC (yosys-abc), or shows
# with yosys-smtbmc and z3 that its cover statements can be reached.
#
#   prove.sh MODE DEPTH TOP PARAMS FILE...     (packages first)
#
# MODE     bmc: assertions hold in the first DEPTH cycles from the initial state (registers without
#          an initial value start anywhere: assume reset in the first cycle where that matters);
#          prove: in every cycle (property-directed reachability; DEPTH is not used);
#          cover: every cover statement is reached within DEPTH cycles.
# PARAMS   "" or yosys chparam options such as "-set W 4".
#
# An assertion in a clocked block is seen one cycle after the values it is about: count that in DEPTH.
# A proof without any assertion is an error, and so is one that finds no verdict in time. With
# VACUITY=name the macro `name` is defined and the proof must FAIL: that is how properties are shown
# to say something.
set -eu
mode=$1 depth=$2 top=$3 params=$4
shift 4
for tool in yosys yosys-abc yosys-smtbmc z3; do
  command -v "$tool" > /dev/null || { echo "$tool is not installed: nothing was proven" >&2; exit 1; }
done
seconds=${PROVE_SECONDS:-240}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set_params=
[ -z "$params" ] || set_params="chparam $params $top;"
read="read_verilog -sv -formal -DFORMAL ${VACUITY:+-D$VACUITY} $*; $set_params
  hierarchy -check -top $top; proc; flatten; opt -fast; memory; opt -fast; async2sync;"

run_yosys() {
  yosys -q -l "$work/yosys.log" -p "$1" > /dev/null 2>&1 || { tail -3 "$work/yosys.log" >&2; exit 1; }
}

if [ "$mode" = cover ]; then
  # z3 4.8.12 needs the states unrolled: otherwise it grows without end.
  run_yosys "$read opt -fast; dffunmap; setundef -anyseq; opt_clean; check -assert;
    write_smt2 -wires $work/design.smt2"
  grep -q "yosys-smt2-cover" "$work/design.smt2" || { echo "$top has no cover statement" >&2; exit 1; }
  # shellcheck disable=SC3045  # dash and bash have it
  ulimit -v 6000000
  timeout "$seconds" yosys-smtbmc -s z3 --unroll --noprogress -c -t "$depth" "$work/design.smt2" \
    > "$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
  echo "$top: every cover statement is reached in $depth cycles"
  exit 0
fi

run_yosys "$read chformal -cover -remove; dffunmap; setundef -undriven -anyseq;
  opt -fast -nodffe -nosdff; check -assert; select -assert-min 1 t:\$assert;
  techmap; opt -fast -nodffe -nosdff; dffunmap; abc -g AND -fast; opt_clean;
  write_aiger -zinit $work/design.aig"
case $mode in
  bmc) engine="bmc3 -F $depth -T $seconds" ;;
  prove) engine="pdr -T $seconds" ;;
  *) echo "mode $mode is not bmc, prove or cover" >&2; exit 1 ;;
esac
yosys-abc -c "read_aiger $work/design.aig; fold; strash; $engine" > "$work/out" 2>&1 || true
verdict=none
if grep -Eq "was asserted in frame" "$work/out"; then
  verdict=failed
elif [ "$mode" = bmc ] && grep -q "No output asserted in $depth frames" "$work/out"; then
  verdict=proven
elif [ "$mode" = prove ] && grep -q "Property proved" "$work/out"; then
  verdict=proven
fi
if [ -n "${VACUITY:-}" ]; then
  [ "$verdict" = failed ] || { cat "$work/out" >&2; echo "$top: $VACUITY was not found" >&2; exit 1; }
  echo "$top: $VACUITY is found"
  exit 0
fi
[ "$verdict" = proven ] || { cat "$work/out" >&2; echo "$top: $verdict" >&2; exit 1; }
echo "$top: proven ($mode)"
