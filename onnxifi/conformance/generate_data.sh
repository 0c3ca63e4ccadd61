#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tables as C++ strings: generate_data.sh NAME=FILE...
set -euo pipefail
for pair; do
  printf 'static const char %s[] = R"DATA(' "${pair%%=*}"
  cat "${pair#*=}"
  printf ')DATA";\n'
done
