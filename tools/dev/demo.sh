# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev demo: build the SDK, then run tools/demo/demo.sh on it.

heddle_demo() {
  [[ -x tools/demo/demo.sh ]] || die "tools/demo/demo.sh is not in this checkout (or not executable)"
  # About 30 minutes of one core; what Bazel shows as its total grows all the time.
  [[ -e out/.staged ]] ||
    say "the first build takes about $((30 / $(nproc) + 2)) minutes on this machine, later ones seconds"
  # shellcheck source=tools/dev/build.sh
  source tools/dev/build.sh
  build_and_stage
  HEDDLE_PREFIX="$HEDDLE_ROOT/out" tools/demo/demo.sh "$@"
}
