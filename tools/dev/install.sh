# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev install: what ./dev build has staged, under a prefix. It does not build: who may write to the prefix should
# not own build products.

heddle_install() { python3 tools/dev/install.py "$@"; }
