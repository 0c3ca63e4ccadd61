#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# FILES.md is what the files are, and the module is no larger than it may be: who adds to it takes
# something out, or argues for a higher limit here.
set -eu
if ! python3 -B kmd/files_md.py kmd/linux kmd/core | diff -u kmd/FILES.md -; then
  echo "kmd/FILES.md is out of date; refresh it with:" >&2
  echo "  python3 kmd/files_md.py kmd/linux kmd/core > kmd/FILES.md" >&2
  exit 1
fi

most=6500
code=$(sed -n 's/.* lines, \([0-9]*\) of them code.*/\1/p' kmd/FILES.md)
[ -n "$code" ] || { echo "kmd/FILES.md has no line with the size of the code" >&2; exit 1; }
if [ "$code" -gt "$most" ]; then
  echo "kmd/linux and kmd/core have $code lines of code, $most are allowed" >&2
  exit 1
fi
