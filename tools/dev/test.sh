# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test: run tests and count their cases. The last line of the output is
# "N passed, N failed, N skipped".

heddle_test() {
  local options=() targets=() count=() seconds=0 argument
  for argument in "$@"; do
    case "$argument" in
      --require-shared) count+=("--no-skip") ;;
      --seconds) seconds=1 ;;
      -//*) targets+=("$argument") ;;  # a target to leave out
      -*) options+=("$argument") ;;
      *) targets+=("$argument") ;;
    esac
  done
  [[ "${#targets[@]}" -gt 0 ]] || targets=("//...")
  local setup_status=0
  ensure_setup || setup_status=$?
  if [[ "$setup_status" != 0 ]]; then
    echo "0 passed, 1 failed, 0 skipped"
    exit "$setup_status"
  fi
  make_scratch
  local status=0
  # With --keep_going every test runs even when another target does not build.
  run_bazel test --keep_going --build_event_json_file="$HEDDLE_SCRATCH/events.json" \
    "${options[@]}" -- "${targets[@]}" || status=$?
  [[ "$seconds" == 0 ]] || python3 tools/dev/test_seconds.py "$HEDDLE_SCRATCH/events.json"
  python3 tools/dev/count_tests.py --bazel-status "$status" "${count[@]}" \
    "$HEDDLE_SCRATCH/events.json"
}
