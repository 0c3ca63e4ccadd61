#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `./dev COMMAND --help` tells of the command and starts nothing.
set -eu
commands="$(./dev help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p')"
[ "$(echo "$commands" | wc -l)" -ge 10 ] || { echo "./dev help lists no commands"; exit 1; }
for command in $commands; do
  said="$(HEDDLE_NO_SETUP=1 PATH=/usr/bin:/bin ./dev "$command" --help)"
  case "$said" in
    "./dev $command "*) ;;
    *) echo "./dev $command --help says: $said"; exit 1 ;;
  esac
done
# What may have been meant, if anything.
for pair in "nightyl:; did you mean nightly?" "guset:; did you mean guest?" "zzz:; the list is above"; do
  said="$(HEDDLE_NO_SETUP=1 ./dev "${pair%%:*}" 2>&1 | tail -n 1)"
  case "$said" in
    *"unknown command '${pair%%:*}'${pair#*:}"*) ;;
    *) echo "./dev ${pair%%:*} says: $said"; exit 1 ;;
  esac
done
if ./dev no-such-command --help 2>/dev/null; then
  echo "./dev no-such-command --help succeeds"
  exit 1
fi
