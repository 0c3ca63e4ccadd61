#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit on the loader over one backend: no failure, and no quality warning but those of CASES. (Its file
# is not named as a vendor's; and a vendor of ONNX 1.x's ABI does not learn of maxSeqLength, nor of offline weights and
# quantization, which the loader refuses as a memory and a type that are not supported.)
#   kit_test.sh KIT LOADER BACKEND ABI PROVOKER CASE...
set -euo pipefail
kit=$PWD/$1
loader=$PWD/$2
backend=$PWD/$3
abi=$4
provoker=$PWD/$5
shift 5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ONNXIFI_VENDOR_PATH=$backend ONNXIFI_CONFIG_DIR=$folder ONNXIFI_LOADER_ABI=$abi
export ONNXIFI_REFERENCE_UNPLUGGED=$folder/unplugged
# Programs with ThreadSanitizer sleep for a second when they end, those that try vendors, too.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}halt_on_error=1:atexit_sleep_ms=0"
status=0
said=$("$kit" --lib "$loader" --abi auto --timeout 60 --provoke "$provoker") || status=$?
last=$(grep '^[0-9]* cases\?: ' <<<"$said" || true)
if [ "$status" != 0 ] || [[ $last != *" 0 fail, "* || $last != *" $# quality warning, "* ]] ||
  [[ $said != *"ABI $abi (it accepts descriptors of this"* ]]; then
  echo "$said"
  exit 1
fi
for name; do
  grep -q "^  quality warning $name " <<<"$said" || {
    echo "$said"
    exit 1
  }
done
echo "$last"
