#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The commands of the README make a backend of the template, and a page on which nothing fails.
#   template_test.sh KIT README FILE... (of the template)
set -euo pipefail
kit=$(realpath "$1")
readme=$(realpath "$2")
shift 2
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -p "$home/bin" "$home/tree/onnxifi/conformance/reference"
cp -L "$@" "$home/tree/onnxifi/conformance/reference"
ln -s "$kit" "$home/bin/onnxifi-conformance"
# The blocks between ``` that make the library, and that test it.
commands=$(awk '/^```/ { if (inside && block ~ /~\/libonnxifi-acme/) printf "%s", block
    inside = !inside; block = ""; next }
  inside { block = block $0 "\n" }' "$readme")
[[ "$commands" == c++*onnxifi-conformance* ]] || {
  echo "FAILED: README.md has not the commands: $commands" >&2
  exit 1
}
cd "$home/tree"
HOME=$home PATH=$home/bin:/usr/bin:/bin bash -eux <<<"$commands"
grep -q libonnxifi-acme.so "$home/verdict.html"
