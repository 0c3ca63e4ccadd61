#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit over one of our libraries: no failure, and no quality warning but those of WARNINGS.
#   conformance_test.sh KIT LIBRARY ABI CARD [WORD...]
#       CARD: private, hosted, or hosted:OPTIONS of heddle-sim. A hosted card is one that PROVOKER, a library, unplugs
#       and breaks.
#       WORD: a group, or (with a dot) a case; without any, all. Group or cases "nodes" are ONNX's node suite, with the
#       failures of WAIVERS that are the suite's own.
set -euo pipefail
kit=$PWD/$1
library=$PWD/$2
abi=$3
card=$4
shift 4
export HEDDLE_BIN_DIR="$PWD/kmd/hosted:$PWD/simulator/platform"
export HEDDLE_DEVICE="${HEDDLE_DEVICE:-sim}"
nodes=/usr/share/libonnx-testdata/data/node
more=()
for word; do
  case "$word" in
  *.*) more+=(--case "$word") ;;
  *) more+=(--group "$word") ;;
  esac
done
case " $*" in
*" nodes"*) more+=(--nodes "$nodes" --waivers "$PWD/$WAIVERS") ;;
esac
if [[ $card == hosted* ]]; then
  options=${card#hosted}
  # shellcheck source=tests/onnxifi/hosted_card.sh
  source tests/onnxifi/hosted_card.sh
  # shellcheck disable=SC2086 # words
  start_hosted_card ${options#:}
  more+=(--provoker "$PWD/$PROVOKER")
fi
status=0
said=$("$kit" --lib "$library" --abi auto --timeout "${TIMEOUT:-60}" "${more[@]}") || status=$?
last=$(grep '^[0-9]* cases\?: ' <<<"$said" || true)
# shellcheck disable=SC2086 # words
warned=$(sed -n 's/^  quality warning *\([^ ]*\).*/\1/p' <<<"$said" | grep -vxF -f <(printf '%s\n' $WARNINGS) || true)
if [ "$status" != 0 ] || [[ $last != *" 0 fail, "* || -n $warned ]] ||
  [[ $said != *"ABI $abi (it accepts descriptors of this"* ]]; then
  echo "$said"
  exit 1
fi
# What is not supported, and why, by reason.
sed -n '/^  not supported /{n;s/^ *//;p}' <<<"$said" | sort | uniq -c
echo "$last"
