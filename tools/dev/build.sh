# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev build: build the products and stage them as an SDK prefix under out/.

# build_and_stage [TARGETS AND BAZEL OPTIONS]: everything of stage.txt, and TARGETS besides.
build_and_stage() {
  ensure_setup
  make_scratch
  local labels
  mapfile -t labels < <(list_entries tools/dev/stage.txt | awk '$1 ~ /^\/\// { print $1 }' | sort -u)
  if [[ "${#labels[@]}" -gt 0 || $# -gt 0 ]]; then
    run_bazel build --build_event_json_file="$HEDDLE_SCRATCH/events.json" "$@" "${labels[@]}"
  else
    : >"$HEDDLE_SCRATCH/events.json"
  fi
  python3 tools/dev/stage.py --list tools/dev/stage.txt \
    --events "$HEDDLE_SCRATCH/events.json" --source . --out out
}

# Models of the RTL are profiled ones (.bazelrc): who takes the SDK may run them for long.
heddle_build() { build_and_stage --config=profiled "$@"; }
