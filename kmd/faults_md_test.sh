#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# FAULTS.md is what faults.toml says.
set -eu
if ! python3 -B kmd/faults.py page kmd/faults.toml rtl/spec/errors.toml | diff -u kmd/FAULTS.md -; then
  echo "kmd/FAULTS.md is out of date; refresh it with:" >&2
  echo "  python3 kmd/faults.py page kmd/faults.toml rtl/spec/errors.toml > kmd/FAULTS.md" >&2
  exit 1
fi
