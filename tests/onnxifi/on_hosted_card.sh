#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program with a hosted card that PROVOKER, a library, unplugs and breaks.
#   on_hosted_card.sh "OPTIONS OF HEDDLE-SIM" PROGRAM [ARGUMENT...]
set -euo pipefail
# shellcheck source=tests/onnxifi/hosted_card.sh
source tests/onnxifi/hosted_card.sh
# shellcheck disable=SC2086 # words
start_hosted_card $1
shift
"$@"
