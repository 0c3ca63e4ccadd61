# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev test-kernel-debug: the driver's tests in a kernel with KASAN, lockdep, kmemleak, DMA-API
# debugging and failing allocations; and what only such a kernel can show. Ends as ./dev test does.

heddle_test-kernel-debug() {
  source tools/dev/test.sh
  local setup_status=0
  { ensure_setup --debug-kernel && HEDDLE_GUEST_KERNEL_DIR="$(tools/setup/debug_kernel.sh)"; } || setup_status=$?
  if [[ "$setup_status" != 0 ]]; then
    echo "0 passed, 1 failed, 0 skipped"
    exit "$setup_status"
  fi
  export HEDDLE_GUEST_KERNEL_DIR HEDDLE_NO_SETUP=1
  local options=(--test_tag_filters= --build_tag_filters= "--test_timeout=600,1800,7200,14400") argument
  local targets=()
  for argument in "$@"; do
    case "$argument" in
      -*) options+=("$argument") ;;
      *) targets+=("$argument") ;;
    esac
  done
  [[ "${#targets[@]}" -gt 0 ]] || mapfile -t targets < <(list_entries tools/dev/test-kernel-debug.txt)
  heddle_test "${options[@]}" "${targets[@]}"
}
