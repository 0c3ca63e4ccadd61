#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# forms_test.sh forms.sv: what yosys makes of the modules called right_* is right, of
# those called wrong_* wrong (if this fails one day because they are right, form_rules.py has lost
# its reason). Icarus takes them as they are meant, all but wrong_genvar_*: simulation does not find the fault.
set -eu
source=$1
right=0
wrong=0

{
  simulated=$(sed -n 's/^module \([a-z_]*\).*/\1/p' "$source" | grep -v wrong_genvar)
  echo 'module bench;'
  echo "  logic [7:0] d; logic [$(echo "$simulated" | wc -l)-1:0] same; integer i; integer bad;"
  n=0
  for module in $simulated; do
    echo "  $module u_$module(.d_i(d), .same_o(same[$n]));"
    n=$((n + 1))
  done
  echo '  initial begin'
  echo '    bad = 0;'
  echo '    for (i = 0; i < 256; i = i + 1) begin d = i; #1; if (&same !== 1'\''b1) bad = bad + 1; end'
  echo '    $display("bad %0d", bad);'
  echo '  end'
  echo 'endmodule'
} > bench.sv
iverilog -g2012 -s bench -o bench.vvp "$source" bench.sv 2> log || { cat log >&2; exit 1; }
vvp -n bench.vvp | grep -x 'bad 0'

for module in $(sed -n 's/^module \([a-z_]*\).*/\1/p' "$source"); do
  verdict=holds
  yosys -q -p "read_verilog -sv $source; prep -top $module; sat -verify -prove same_o 1" \
    > log 2>&1 || verdict=fails
  if [ "$verdict" = fails ] && ! grep -q "proof did fail" log; then
    cat log >&2
    exit 1
  fi
  case $module-$verdict in
    right_*-holds) right=$((right + 1)) ;;
    wrong_*-fails) wrong=$((wrong + 1)) ;;
    *)
      echo "$module: same_o $verdict" >&2
      exit 1
      ;;
  esac
done
[ "$right" = 5 ] && [ "$wrong" = 6 ] || { echo "$right right, $wrong wrong: expected 5 and 6" >&2; exit 1; }
echo "$right forms are right, $wrong wrong"
