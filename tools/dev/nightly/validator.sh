#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The validator's oracle on 10^8 structured random streams (or $1), one process per
# core with its own seed; then a minute of libFuzzer with sanitizers.
# HEDDLE_ORACLE_SEED shifts the seeds, so that every night looks at other streams.
set -eu
cd "$(dirname "$0")/../../.."
total=${1:-100000000}
shards=$(nproc)
base=${HEDDLE_ORACLE_SEED:-$(date +%Y%m%d)}
bazel build --build_tag_filters= //tests/validator:oracle_sweep
bin=$(bazel info bazel-bin)/tests/validator/oracle_sweep
pids=
i=0
while [ "$i" -lt "$shards" ]; do
  HEDDLE_ORACLE_STREAMS=$((total / shards)) HEDDLE_ORACLE_SEED=$((base * 1000 + i)) "$bin" &
  pids="$pids $!"
  i=$((i + 1))
done
status=0
for pid in $pids; do
  wait "$pid" || status=1
done
# (the flags appear twice because the name of the output directory depends on them)
fuzz="--config=asan --copt=-fsanitize=fuzzer-no-link"
# shellcheck disable=SC2086
bazel build $fuzz --build_tag_filters= //tests/validator:oracle_fuzz
# shellcheck disable=SC2086
"$(bazel info $fuzz bazel-bin)/tests/validator/oracle_fuzz" -max_total_time=60 \
  -max_len=4096 || status=1
exit $status
