#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libFuzzer with sanitizers on the validator's oracle, for $1 seconds (60).
set -eu
cd "$(dirname "$0")/../../.."
# (the flags appear twice because the name of the output directory depends on them)
fuzz="--config=asan --copt=-fsanitize=fuzzer-no-link"
# shellcheck disable=SC2086
bazel build $fuzz --build_tag_filters= //tests/validator:oracle_fuzz
# shellcheck disable=SC2086
exec "$(bazel info $fuzz bazel-bin)/tests/validator/oracle_fuzz" -max_total_time="${1:-60}" -max_len=4096
