#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit over one of our libraries on a private card: no failure, and no quality warning.
#   conformance_test.sh KIT LIBRARY ABI [GROUP...]    without groups everything
set -euo pipefail
kit=$PWD/$1
library=$PWD/$2
abi=$3
shift 3
export HEDDLE_BIN_DIR="$PWD/kmd/hosted:$PWD/simulator/platform"
export HEDDLE_DEVICE="${HEDDLE_DEVICE:-sim}"
groups=()
for group; do
  groups+=(--group "$group")
done
status=0
said=$("$kit" --lib "$library" --abi auto --timeout 60 "${groups[@]}") || status=$?
last=${said##*$'\n'}
if [ "$status" != 0 ] || [[ $last != *" 0 fail, "* || $last != *" 0 quality warning, "* ]] ||
  [[ $said != *"ABI $abi (it takes"* ]]; then
  echo "$said"
  exit 1
fi
echo "$last"
