# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev nightly [NAME|all]: the long runs of tools/dev/nightly.txt.

heddle_nightly() {
  if [[ $# -eq 0 ]]; then
    echo "Long runs, started with ./dev nightly NAME [ARGUMENTS]:"
    show_list tools/dev/nightly.txt
    return
  fi
  ensure_setup
  run_list tools/dev/nightly.txt "$@"
}
