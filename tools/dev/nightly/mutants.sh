#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every fault of rtl/mutants/mutants.bzl, or those named, against the RTL's tests.
set -eu
cd "$(dirname "$0")/../../.."
exec python3 rtl/mutants/run.py "$@"
