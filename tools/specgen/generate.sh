#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Refreshes rtl/spec/generated and rtl/spec/*.md from rtl/spec/*.toml.
set -e
cd "$(dirname "$0")/../.."
exec python3 -B tools/specgen/specgen.py --spec rtl/spec --out rtl/spec "$@"
