# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# start_hosted_card [OPTION...]: a hosted card of heddle-sim with these options, for as long as the script runs.
# Programs find it by HEDDLE_DEVICE, the provoker by HEDDLE_PROVOKE_CONTROL. In the folder of the runfiles.

start_hosted_card() {
  local i folder
  # What it has after the provoker has given it other memory.
  for ((i = 1; i < $#; ++i)); do
    [[ ${!i} != --memory ]] || export HEDDLE_PROVOKE_MEMORY=${*:i+1:1}
  done
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now
  trap "kill \$(jobs -p) 2>/dev/null; rm -rf '$folder'" EXIT
  simulator/platform/heddle-sim --socket "$folder/card" --control "$folder/control" "$@" &
  kmd/hosted/heddle-hosted --socket "$folder/heddle" --card "$folder/card" 2> "$folder/log" &
  for ((i = 0; i < 100; ++i)); do
    grep -q "device memory" "$folder/log" 2>/dev/null && break
    sleep 0.1
  done
  export HEDDLE_DEVICE=hosted:$folder/heddle
  export HEDDLE_PROVOKE_CONTROL=$folder/control
}
