#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A short run with a fixed seed, and the program's refusals.
set -euo pipefail
"$1" --sequences 25
"$1" --sequences 5 --threads 1 --files 1 --calm --seed 7
code=0
"$1" --device hosted:/nowhere/at.all --sequences 1 --limit 5 2>/dev/null || code=$?
[[ $code == 1 ]]
code=0
"$1" --device sim 2>/dev/null || code=$?
[[ $code == 2 ]]
