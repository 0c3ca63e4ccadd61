# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev fmt: clang-format over all C and C++ sources.

heddle_fmt() {
  ensure_setup
  python3 tools/lint/lint.py --fix
}
