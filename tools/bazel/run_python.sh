#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a Python test from its runfiles: run_python.sh SCRIPT ARGUMENTS...
set -euo pipefail
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
exec python3 "$@"
