#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves the immediate assertions of a SystemVerilog top with yosys and yosys-smtbmc.
#
#   prove.sh MODE DEPTH TOP PARAMS FILE...     (packages first)
#
# MODE     bmc: assertions hold in the first DEPTH cycles from reset;
#          prove: and, by k-induction with k <= DEPTH, in every cycle;
#          cover: every cover statement is reached within DEPTH cycles.
# PARAMS   "" or yosys chparam options such as "-set W 4".
#
# A proof without any assertion is an error. Run with VACUITY=name it is expected to FAIL: the test
# of the harness itself, and of properties against a broken design (define `name`).
set -eu
mode=$1 depth=$2 top=$3 params=$4
shift 4
for tool in yosys yosys-smtbmc z3; do
  command -v "$tool" > /dev/null || { echo "$tool is not installed: nothing was proven" >&2; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set_params=
[ -z "$params" ] || set_params="chparam $params $top;"

# One design: hierarchy, flattened, memories as registers (keep them small).
yosys -q -l "$work/yosys.log" -p "
  read_verilog -sv -formal -DFORMAL ${VACUITY:+-D$VACUITY} $*;
  $set_params
  hierarchy -check -top $top; proc; flatten; opt -fast; memory; opt -fast;
  async2sync; opt -fast; dffunmap; setundef -anyseq; opt_clean; check -assert;
  write_smt2 -wires $work/design.smt2" > /dev/null || { grep -a "ERROR" "$work/yosys.log" >&2; exit 1; }
kind=assert
[ "$mode" != cover ] || kind=cover
grep -q "yosys-smt2-$kind" "$work/design.smt2" || { echo "$top has no $kind statement" >&2; exit 1; }

# z3 4.8.12 needs the states unrolled (otherwise it grows without end; the limit is 6 GB), and
# boolector 1.5 does not understand yosys' output.
check() {
  ulimit -v 6000000
  timeout "${PROVE_SECONDS:-250}" yosys-smtbmc -s z3 --unroll --noprogress "$@" "$work/design.smt2" > "$work/out" 2>&1
}
verdict=proven
case $mode in
  bmc) check -t "$depth" || verdict=failed ;;
  prove)
    check -t "$depth" || verdict=failed
    [ "$verdict" = failed ] || check -i -t "$depth" || verdict=failed
    ;;
  cover) check -c -t "$depth" || verdict=failed ;;
  *) echo "mode $mode is not bmc, prove or cover" >&2; exit 1 ;;
esac
if [ -n "${VACUITY:-}" ]; then
  grep -q "Assert failed" "$work/out" || { cat "$work/out"; echo "$top: $VACUITY was not found" >&2; exit 1; }
  echo "$top: $VACUITY is found"
  exit 0
fi
if [ "$verdict" = failed ]; then
  cat "$work/out" >&2
  exit 1
fi
echo "$top: $mode, $depth cycles: passed"
