#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./dev nightly digits [--compare tools/demo/digits/EXPECTED.json]: trains the demo's digit models
# anew in a temporary folder. Fails when they miss the promised accuracy; with --compare also when
# they are not the checked-in bytes. Needs the fonts that train.py's header lists.
set -euo pipefail
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT
here="$(dirname "${BASH_SOURCE[0]}")"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/train.py" --out "$out" "$@"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$here/evaluate.py" --dir "$out" --check
