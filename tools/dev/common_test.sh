#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which commands get precompiled headers, and what makes these anew.
set -euo pipefail
export HOME="$TEST_TMPDIR"
# shellcheck source=tools/dev/common.sh
source tools/dev/common.sh
unset HEDDLE_PRECOMPILED

fail() {
  echo "FAILED: $*"
  exit 1
}

with=("test //..." "build --config=profiled //tools/..." "run //tools:x -- --config=y" "test --test_arg=-c //x"
  "info bazel-bin")
without=("query //..." "clean" "test --config=asan //..." "build //x --config=arm64" "test -c dbg //x"
  "build --compilation_mode=dbg //x" "build --copt=-O3 //x" "build --cxxopt=-O3 //x" "build --cpu=arm64 //x"
  "build --crosstool_top=@x//:y //x")
for words in "${with[@]}"; do
  # shellcheck disable=SC2086  # words
  uses_precompiled $words || fail "bazel $words is without precompiled headers"
done
for words in "${without[@]}"; do
  # shellcheck disable=SC2086
  ! uses_precompiled $words || fail "bazel $words has precompiled headers"
done
! HEDDLE_PRECOMPILED=0 uses_precompiled test //... || fail "HEDDLE_PRECOMPILED=0 changes nothing"

# An upgrade of the compiler or of a library gives other options, so that Bazel makes them again.
dpkg-query() { printf '%s;' "${versions[@]}"; }
versions=(clang-14=1 libabsl-dev=1)
set_bazel_options test //...
before="${bazel_options[*]}"
versions=(clang-14=1 libabsl-dev=2)
set_bazel_options test //...
[[ "$before" == *"--config=precompiled"* && "$before" != "${bazel_options[*]}" ]] ||
  fail "an upgrade of libabsl-dev does not change: $before"
echo passed
