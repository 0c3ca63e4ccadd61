#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-driver-tests, whole, with this tree's driver in the newest 6.1 and 6.12 of Debian 12, and on every seeded fault
# of the driver. Arguments go to bazel test.
set -euo pipefail
cd "$(dirname "$0")/../../.."
# shellcheck source=tools/dev/nightly/kernel_series.sh
source tools/dev/nightly/kernel_series.sh

status=0
for series in 6.1 6.12; do
  folder="$(fetch_newest "$series")"
  echo "driver-tests: in $(sed -n 's/^release=//p' "$folder/kernel.txt")"
  in_kernel "$folder" --test_output=all //tests/driver_kit:whole_test //tests/driver_kit/mutants:mutants_test "$@" || status=1
done
exit $status
