# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev fmt: clang-format over all C and C++ sources, black over Python, tools/lint/verilog_style.py over SystemVerilog,
# tools/lint/starlark_style.py over BUILD files and Starlark.

heddle_fmt() {
  ensure_setup
  python3 tools/lint/lint.py --fix
}
