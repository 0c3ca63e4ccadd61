#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# UAPI.md is what the header's comments say.
set -eu
if ! python3 -B kmd/uapi_md.py kmd/include/uapi/drm/heddle_drm.h | diff -u kmd/UAPI.md -; then
  echo "kmd/UAPI.md is out of date; refresh it with:" >&2
  echo "  python3 kmd/uapi_md.py kmd/include/uapi/drm/heddle_drm.h > kmd/UAPI.md" >&2
  exit 1
fi
# A field that nobody described must be noticed.
sed '/^ \* @stream: RUN: stream id/d' kmd/include/uapi/drm/heddle_drm.h > "${TEST_TMPDIR:-/tmp}/h"
if python3 -B kmd/uapi_md.py "${TEST_TMPDIR:-/tmp}/h" > /dev/null 2>&1; then
  echo "a field without a comment was accepted" >&2
  exit 1
fi
