# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev clean: remove out/ and what Bazel built.

heddle_clean() {
  rm -rf out
  if command -v bazel >/dev/null; then
    run_bazel clean
  fi
}
