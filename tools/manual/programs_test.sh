#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What all programs have in common: --help begins with an example, lists exit codes and fits 80 columns, also that of
# subcommands; --version gives name and version; a misspelt option is answered with the one that was meant.
set -euo pipefail
failed=0
fail() {
  echo "FAILED: $*" >&2
  failed=1
}
# fits TEXT WHAT
fits() {
  local long
  long=$(awk 'length > 80' <<<"$1")
  [[ -z $long ]] || fail "$2 has lines of more than 80 columns:"$'\n'"$long"
}
version=$(cat "$1")
shift
(($# >= 8)) || fail "only $# programs"
for program; do
  name=${program##*/}
  name=${name%.py}
  help=$("./$program" --help) || fail "$name --help exits with $?"
  [[ ${help%%$'\n'*} == "Example:" ]] || fail "$name --help does not begin with an example"
  grep -q '^Exit codes:' <<<"$help" || fail "$name --help lists no exit codes"
  fits "$help" "$name --help"
  for word in $(sed -n '/^Subcommands:$/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$help"); do
    fits "$("./$program" "$word" --help)" "$name $word --help"
  done
  [[ $("./$program" --version) == "$name $version" ]] || fail "$name --version: $("./$program" --version)"
  code=0
  said=$("./$program" --hlep 2>&1) || code=$?
  [[ $code == 2 ]] || fail "$name --hlep exits with $code"
  [[ $said == "$name: error: "*"did you mean --help"* ]] || fail "$name --hlep: $said"
done
exit $failed
