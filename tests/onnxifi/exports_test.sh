#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A vendor library exports the interface and its marker, nothing else:
#   exports_test.sh LIBRARY...
set -euo pipefail
want="onnxGetBackendCompatibility onnxGetBackendIDs onnxGetBackendInfo onnxGetEventState \
onnxGetExtensionFunctionAddress onnxInitBackend onnxInitEvent onnxInitGraph onnxReleaseBackend \
onnxReleaseBackendID onnxReleaseEvent onnxReleaseGraph onnxRunGraph onnxSetGraphIO \
onnxSignalEvent onnxWaitEvent onnxifi_heddle_descriptor_bytes"
for library; do
  # (Local names, in lower case but for u, v and w, may stand in the table.)
  have=$(nm -D --defined-only "$library" | awk '$2 ~ /^[A-Zuvw]$/ {print $3}' | LC_ALL=C sort | tr '\n' ' ')
  if [ "$have" != "$want " ]; then
    echo "FAILED: $library exports" >&2
    diff <(tr ' ' '\n' <<< "$want") <(tr ' ' '\n' <<< "${have% }") >&2 || true
    exit 1
  fi
  if ! readelf -d "$library" | grep -q NODELETE; then
    echo "FAILED: $library can be unloaded under its threads" >&2
    exit 1
  fi
done
