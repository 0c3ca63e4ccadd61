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
# Examples come first, and every option of the guest's is there.
said="$(HEDDLE_NO_SETUP=1 ./dev guest --help)"
options="$(sed -n 's/.*add_argument("\(--[a-z-]*\)".*/\1/p; /add_argument($/{n;s/^ *"\(--[a-z-]*\)".*/\1/p}' tests/guest/run_shell.py)"
[ "$(echo "$options" | wc -l)" -ge 5 ] || { echo "no options in run_shell.py"; exit 1; }
for option in $options; do
  echo "$said" | grep -q "^ *$option " || { echo "./dev guest --help lacks $option: $said"; exit 1; }
done
case "$said" in
  *" -- heddle-smi doctor "*"[OPTIONS] [-- COMMAND]"*) ;;
  *) echo "./dev guest --help says: $said"; exit 1 ;;
esac
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
