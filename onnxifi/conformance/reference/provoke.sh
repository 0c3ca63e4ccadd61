#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What onnxifi-conformance --provoke takes for the reference backend: provoke.sh unplug|plug
set -eu
file=$ONNXIFI_REFERENCE_UNPLUGGED
case "$1" in
unplug) : > "$file" ;;
plug) rm -f "$file" ;;
*) exit 2 ;;
esac
