#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# 10^7 random ioctls (or $1) against the driver of heddle-hosted with AddressSanitizer, and a tenth of
# that with ThreadSanitizer, one process per core with its own seed. HEDDLE_FUZZ_SEED shifts the
# seeds, so that every night sees other calls.
set -eu
cd "$(dirname "$0")/../../.."
total=${1:-10000000}
shards=$(nproc)
base=${HEDDLE_FUZZ_SEED:-$(date +%Y%m%d)}
build=${HEDDLE_BAZEL:-bazel}
per_sequence=800 # 4 threads with 200 calls each
status=0

# run CONFIG IOCTLS
run() {
  $build build --config="$1" //tests/fuzz_ioctl
  program=$($build info --config="$1" bazel-bin)/tests/fuzz_ioctl/fuzz_ioctl
  pids=
  i=0
  while [ "$i" -lt "$shards" ]; do
    "$program" --sequences=$(($2 / shards / per_sequence + 1)) --seed=$((base * 100 + i)) --limit=120 &
    pids="$pids $!"
    i=$((i + 1))
  done
  for pid in $pids; do
    wait "$pid" || status=1
  done
}

run asan "$total"
run tsan $((total / 10))
exit $status
