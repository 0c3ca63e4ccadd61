# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev compile-commands [TARGETS]: compile_commands.json for editors, clangd and clang-tidy. Headers that are made are
# there after ./dev build.

heddle_compile-commands() {
  local targets="${*:-//...}" root
  ensure_setup
  make_scratch
  root="$(run_bazel info execution_root 2>"$HEDDLE_SCRATCH/log")" || die "$(cat "$HEDDLE_SCRATCH/log")"
  run_bazel aquery --output=jsonproto --build_tag_filters= \
    "mnemonic(\"CppCompile\", set($targets))" >"$HEDDLE_SCRATCH/actions.json"
  python3 tools/dev/compile_commands.py "$HEDDLE_ROOT" "$root" compile_commands.json <"$HEDDLE_SCRATCH/actions.json"
}
