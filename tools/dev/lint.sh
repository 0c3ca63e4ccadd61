# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev lint: the checks of tools/lint/lint.py.

heddle_lint() {
  ensure_setup
  python3 tools/lint/lint.py "$@"
}
