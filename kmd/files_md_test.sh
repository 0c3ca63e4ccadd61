#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# FILES.md is what the files are.
set -eu
if ! python3 -B kmd/files_md.py kmd/linux kmd/core | diff -u kmd/FILES.md -; then
  echo "kmd/FILES.md is out of date; refresh it with:" >&2
  echo "  python3 kmd/files_md.py kmd/linux kmd/core > kmd/FILES.md" >&2
  exit 1
fi
