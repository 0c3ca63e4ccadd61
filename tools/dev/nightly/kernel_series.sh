# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the runs that take several kernels.

# Bazel tests, nightly ones too, with the kernel in a folder of guest_kernel.sh: in_kernel FOLDER ARGUMENTS
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

# The folder of the newest stock kernel of a series, fetched.
fetch_newest() {
  local abi
  abi="$(newest_of "$1")"
  [[ -n "$abi" ]] || {
    echo "apt knows no kernel $1: see that Debian 12's security suite is configured" >&2
    return 1
  }
  HEDDLE_GUEST_KERNEL="$abi" tools/setup/guest_kernel.sh
}
