#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance kit finds the known faults of the libraries that Debian ships: of libonnxifi_dummy.so, and of ONNX's
# wrapper (/usr/lib/libonnxifi.so) over two vendors without a fault; and no other ones. The wrapper looks for vendors in
# /usr/lib: they are put there in a mount namespace of its own.
#   debian_libraries_test.sh KIT REFERENCE
set -euo pipefail
kit=$(realpath "$1")
reference=$(realpath "$2")
overlay=$(mktemp -d)
trap 'rm -rf "$overlay"' EXIT
cp "$reference" "$overlay/libonnxifi-first.so"
cp "$reference" "$overlay/libonnxifi-second.so"
chmod 755 "$overlay" "$overlay"/*.so

# judge EXPECTED COMMAND...: its cases that fail or warn are those of EXPECTED. $said is its report.
judge() {
  local expected="$1" status=0
  shift
  said=$("$@" 2>&1) || status=$?
  found=$(sed -n 's/^  \(fail\|quality warning\)  *\([a-z_.]*\) .*/\2/p' <<<"$said" | sort | tr '\n' ' ')
  expected=$(tr ' ' '\n' <<<"$expected" | sort | tr '\n' ' ')
  if [[ "$found" != "$expected" || $status != 1 ]]; then
    echo "$said"
    echo "FAILED ($status): fail or warn: $found, not $expected" >&2
    exit 1
  fi
  grep '^[0-9]* cases\?: ' <<<"$said"
}

# Counting is INVALID_POINTER, so nothing else can be seen but that a call without a place for the number is refused.
dummy=$(find /usr/lib -name libonnxifi_dummy.so | head -n 1)
[[ -n "$dummy" ]] || {
  echo "FAILED: libonnxifi_dummy.so is not installed (package libonnx-dev)" >&2
  exit 1
}
ids="ids.count_only ids.distinct ids.fill ids.release_before_children ids.release_twice ids.short_buffer ids.stable \
ids.stable_after_release"
judge "$ids" "$kit" --lib "$dummy" --abi onnx1 --group ids
# Nor is anything else blamed for that: the cause is told once, and what is quoted is of the function that failed: two
# sentences of onnxGetBackendIDs, and of onnxInitBackend and onnxInitEvent, which succeed without a handle.
judge "$ids general.out_handles loader.file_name" "$kit" --lib "$dummy"
cause="onnxGetBackendIDs lists no device: it returned INVALID_POINTER; cases that need one were not run"
quoted=$(grep -c '^      onnx.*: "' <<<"$said" || true)
[[ $said == *"ABI onnx1 (assumed: no device to probe with; --abi overrides)"* &&
  $(grep -cF "lists no device: " <<<"$said") == 1 && $said == *$'\n\n'"$cause"$'\n\n'* && $quoted == 4 ]] || {
  echo "$said"
  echo "FAILED: not once: $cause; or $quoted sentences are quoted" >&2
  exit 1
}

namespace=(unshare --mount)
[[ "$(id -u)" == 0 ]] || namespace=(unshare --user --map-root-user --mount)
# shellcheck disable=SC2016
mounted='mount -t overlay overlay -o "lowerdir=$0:/usr/lib" /usr/lib && exec "$@"'
if ! said=$("${namespace[@]}" bash -c "$mounted" "$overlay" true 2>&1); then
  echo "SKIPPED: no mount namespace with an overlay here: $said"
  exit 0
fi
# It reads handles; crashes without a place for the number; stores an ID that is none where there is too little room;
# gives other IDs in each call; and knows no extension of the vendors that list theirs. (What it reads of IDs that were
# released decides in other cases, which are left out.)
judge "general.handle_wild extensions.is_listed ids.count_null ids.short_buffer ids.stable ids.stable_after_release" \
  "${namespace[@]}" bash -c "$mounted" "$overlay" "$kit" --lib /usr/lib/libonnxifi.so --abi onnx1 \
  --case general.handle_wild --case "ids.count_*" --case ids.short_buffer --case ids.fill --case ids.distinct \
  --case "ids.stable*" --group extensions --group info
