# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test-kernel-debug: the driver's tests in a kernel with KASAN, lockdep, kmemleak, DMA-API
# debugging and failing allocations, and what only such a kernel can show; then those of several
# processors in one with KCSAN. With --kcsan only the latter, with targets only these. Ends as
# ./dev test does, of each of the two.

# run_in_kernel LIST TIME_FACTOR OPTIONS...: `targets`, or those of the list, in the kernel of
# debug_kernel.sh, whose tests may take that many times as long as in Debian's.
run_in_kernel() {
  local list="$1" factor="$2" setup_status=0
  shift 2
  { ensure_setup --debug-kernel && HEDDLE_GUEST_KERNEL_DIR="$(tools/setup/debug_kernel.sh "${kind[@]}")"; } ||
    setup_status=$?
  if [[ "$setup_status" != 0 ]]; then
    echo "0 passed, 1 failed, 0 skipped"
    return "$setup_status"
  fi
  export HEDDLE_GUEST_KERNEL_DIR HEDDLE_NO_SETUP=1
  local chosen=("${targets[@]}")
  [[ "${#chosen[@]}" -gt 0 ]] || mapfile -t chosen < <(list_entries "$list")
  heddle_test --test_tag_filters= --build_tag_filters= --test_timeout=600,1800,7200,14400 \
    --test_env=HEDDLE_TEST_TIME_FACTOR="$factor" "$@" "${chosen[@]}"
}

heddle_test-kernel-debug() {
  source tools/dev/test.sh
  local options=() targets=() kind=() argument status=0
  for argument in "$@"; do
    case "$argument" in
      --kcsan) kind=(--kcsan) ;;
      -*) options+=("$argument") ;;
      *) targets+=("$argument") ;;
    esac
  done
  if [[ "${#kind[@]}" == 0 ]]; then
    (run_in_kernel tools/dev/test-kernel-debug.txt 3 "${options[@]}") || status=$?
    [[ "${#targets[@]}" == 0 ]] || exit "$status"
    kind=(--kcsan)
  fi
  # Every access to memory is a call there, and the processors are emulated.
  (run_in_kernel tools/dev/test-kernel-kcsan.txt 10 "${options[@]}") || status=$?
  exit "$status"
}
