#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The driver in the kernels that it is for: compiled with all warnings, by sparse and checkpatch.pl looked
# at, and linked against the newest one that Debian's backports have (tools/setup/newest_kernel.sh); run in
# the newest 6.1 and 6.12 of the suites that the machine has. Arguments go to bazel test.
set -euo pipefail
cd "$(dirname "$0")/../../.."

in_kernel() {
  local folder="$1"
  shift
  HEDDLE_NO_SETUP=1 HEDDLE_GUEST_KERNEL_DIR="$folder" ./dev test --test_tag_filters= --build_tag_filters= "$@"
}

# The ABI of the newest stock kernel of a series.
newest_of() {
  apt-cache pkgnames "linux-image-$1." |
    sed -n "s/^linux-image-\($1\.[0-9.]*\(-[0-9]*\|+deb12\)\)-amd64\$/\1/p" | sort -V | tail -n 1
}

status=0
folder="$(tools/setup/newest_kernel.sh)"
echo "kernels: compiling against $(sed -n 's/^release=//p' "$folder/kernel.txt")"
in_kernel "$folder" //kmd:heddle_kernel_test //kmd:heddle_sparse_test //kmd:heddle_checkpatch_test "$@" || status=1
for series in 6.1 6.12; do
  abi="$(newest_of "$series")"
  [[ -n "$abi" ]] || {
    echo "kernels: apt knows no kernel $series: see that Debian 12's security suite is configured" >&2
    exit 1
  }
  folder="$(HEDDLE_GUEST_KERNEL="$abi" tools/setup/guest_kernel.sh)"
  echo "kernels: running in $abi"
  in_kernel "$folder" //kmd/... //tests/driver/... //tests/guest/... -//tests/guest/debug/... \
    -//tests/driver:kunit_test //tests/fuzz_ioctl:guest_test "$@" || status=1
done
exit $status
