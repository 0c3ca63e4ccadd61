#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit over one of our libraries: no failure, and no quality warning.
#   conformance_test.sh KIT LIBRARY ABI [GROUP...]    on a private card; without groups everything, and the group
#       provoked, on a card that PROVOKER, a library, unplugs and breaks
set -euo pipefail
kit=$PWD/$1
library=$PWD/$2
abi=$3
shift 3
export HEDDLE_BIN_DIR="$PWD/kmd/hosted:$PWD/simulator/platform"
export HEDDLE_DEVICE="${HEDDLE_DEVICE:-sim}"
more=()
for group; do
  more+=(--group "$group")
done
if [ $# = 0 ] || [ "$1" = provoked ]; then
  folder=$(mktemp -d)
  trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
  simulator/platform/heddle-sim --socket "$folder/card" --control "$folder/control" &
  kmd/hosted/heddle-hosted --socket "$folder/heddle" --card "$folder/card" 2> "$folder/log" &
  for ((i = 0; i < 100; ++i)); do
    grep -q "device memory" "$folder/log" 2>/dev/null && break
    sleep 0.1
  done
  export HEDDLE_DEVICE=hosted:$folder/heddle
  export HEDDLE_PROVOKE_CONTROL=$folder/control
  more+=(--provoker "$PWD/$PROVOKER")
fi
status=0
said=$("$kit" --lib "$library" --abi auto --timeout 60 "${more[@]}") || status=$?
last=${said##*$'\n'}
if [ "$status" != 0 ] || [[ $last != *" 0 fail, "* || $last != *" 0 quality warning, "* ]] ||
  [[ $said != *"ABI $abi (it takes"* ]]; then
  echo "$said"
  exit 1
fi
echo "$last"
