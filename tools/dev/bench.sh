# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev bench [NAME]: the measurements of tools/dev/bench.txt, on a fresh build.

heddle_bench() {
  # shellcheck source=tools/dev/build.sh
  source tools/dev/build.sh
  build_and_stage --config=profiled
  export HEDDLE_PREFIX="$HEDDLE_ROOT/out"
  local name="${1:-all}"
  [[ $# -gt 0 ]] && shift
  run_list tools/dev/bench.txt "$name" "$@"
}
