#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The driver in the kernels that it is for: compiled with all warnings, by sparse and checkpatch.pl looked
# at, and linked against the newest one that Debian's backports have (tools/setup/newest_kernel.sh); run in
# the newest 6.1 and 6.12 of the suites that the machine has. Arguments go to bazel test.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# shellcheck source=tools/dev/nightly/kernel_series.sh
source tools/dev/nightly/kernel_series.sh

status=0
folder="$(tools/setup/newest_kernel.sh)"
echo "kernels: compiling against $(sed -n 's/^release=//p' "$folder/kernel.txt")"
in_kernel "$folder" //kmd:heddle_kernel_test //kmd:heddle_sparse_test //kmd:heddle_checkpatch_test "$@" || status=1
for series in 6.1 6.12; do
  folder="$(fetch_newest "$series")"
  echo "kernels: running in $(sed -n 's/^release=//p' "$folder/kernel.txt")"
  in_kernel "$folder" //kmd/... //tests/driver/... //tests/guest/... -//tests/guest/debug/... \
    -//tests/driver:kunit_test //tests/fuzz_ioctl:guest_test "$@" || status=1
done
exit $status
