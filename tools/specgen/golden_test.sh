#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files checked in under rtl/spec are what the generator writes today.
set -e
exec python3 -B tools/specgen/specgen.py --spec rtl/spec --out rtl/spec --check
