#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The profile of a model on the RTL card and, by the timing record, on the functional card: the same
# cycles for every command. Prints what both took. Arguments: the programs, the script that compares,
# the model, options of heddle-compile.
set -euo pipefail
timing=$PWD/$1 compile=$PWD/$2 run=$PWD/$3 compare=$PWD/$4 model=$PWD/$5
export HEDDLE_BIN_DIR=$PWD/kmd/hosted:$PWD/simulator/platform HEDDLE_DEVICE=sim
if [[ ! -f $model ]]; then
  echo "SKIPPED: $model is not there (the shared folder)"
  exit 0
fi
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"
TIMEFORMAT='%1R s of wall time'
"$compile" "$model" "${@:6}" -o m.hpk
echo "heddle-timing:"
time "$timing" m.hpk
echo "heddle-run --core rtl --trace:"
time "$run" m.hpk --core rtl --trace rtl.json
echo "heddle-run --cycles exact --trace:"
time "$run" m.hpk --cycles exact --trace exact.json
"$compare" rtl.json exact.json
