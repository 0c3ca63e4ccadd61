#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random streams in lockstep on the RTL core, 10^8 commands (or $1), one process
# per core with its own seeds; every 25th stream aims at boundaries of fields.
# HEDDLE_LOCKSTEP_SEED shifts the seeds, so that every night looks at other streams.
set -eu
cd "$(dirname "$0")/../../.."
total=${1:-100000000}
shards=$(nproc)
base=${HEDDLE_LOCKSTEP_SEED:-$(date +%Y%m%d)}
bazel build //tests/lockstep:random_lockstep_test
bin=$(bazel info bazel-bin)/tests/lockstep/random_lockstep_test
pids=
# A shell's background processes do not hear an interrupt.
trap 'kill $pids 2> /dev/null; exit 130' INT TERM
i=0
while [ "$i" -lt "$shards" ]; do
  TEST_TOTAL_SHARDS=$shards TEST_SHARD_INDEX=$i "$bin" --commands="$total" \
    --seed=$((base * 1000000000)) --length=1000 --boundaries=25 --progress=100000 \
    --quota '--gtest_filter=*CoreIsModel' &
  pids="$pids $!"
  i=$((i + 1))
done
status=0
for pid in $pids; do
  wait "$pid" || status=1
done
exit $status
