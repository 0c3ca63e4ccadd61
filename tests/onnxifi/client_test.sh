#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests/onnxifi/client against a library.
#
#   client_test.sh CLIENT LIBRARY fake|real direct
#   client_test.sh CLIENT LIBRARY fake|real wrapper    through /usr/lib/libonnxifi.so of ONNX,
#       which looks for vendors in /usr/lib: LIBRARY is put there in a mount namespace of its own
#   client_test.sh CLIENT LIBRARY fake|real LOADER     the same, and again through our LOADER, which the dynamic linker
#       is told to find under the same name: the devices are the same
set -euo pipefail
client=$(realpath "$1")
library=$(realpath "$2")
engine=$3
how=$4
wrapper=/usr/lib/libonnxifi.so

if [ "$engine" = real ]; then
  export HEDDLE_BIN_DIR="$PWD/kmd/hosted:$PWD/simulator/platform"
  export HEDDLE_DEVICE="${HEDDLE_DEVICE:-sim}"
fi

if [ "$how" = direct ]; then
  exec "$client" "$library" "$engine"
fi

if [ ! -e "$wrapper" ]; then
  echo "FAILED: $wrapper is not installed (package libonnxifi)" >&2
  exit 1
fi
overlay=$(mktemp -d)
trap 'rm -rf "$overlay"' EXIT
cp "$library" "$overlay/libonnxifi-heddle.so"
chmod 755 "$overlay" "$overlay/libonnxifi-heddle.so"
loader=
[ "$how" = wrapper ] || loader=$(realpath -s "$(dirname "$how")")
# The log says which ABI was chosen, and why.
export HEDDLE_LOG=info
namespace=(unshare --mount)
[ "$(id -u)" = 0 ] || namespace=(unshare --user --map-root-user --mount)
if ! "${namespace[@]}" mount -t overlay overlay -o "lowerdir=$overlay:/usr/lib" /usr/lib 2> "$overlay.err"; then
  echo "SKIPPED: no mount namespace with an overlay here: $(cat "$overlay.err")"
  rm -f "$overlay.err"
  exit 0
fi
rm -f "$overlay.err"
# The wrapper of ONNX forgets its tables, and is unloaded before the leaks are listed, so that no
# suppression can name it: under a sanitizer leaks count in the direct tests only.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
# shellcheck disable=SC2016
"${namespace[@]}" bash -c '
  set -e
  mount -t overlay overlay -o "lowerdir=$1:/usr/lib" /usr/lib
  if [ -n "$4" ]; then
    LD_LIBRARY_PATH=$4 ONNXIFI_LOADER_LOG=info "$2" libonnxifi.so "$3" >"$1.ours" 2>"$1.ours.log"
  fi
  exec "$2" libonnxifi.so "$3"' - "$overlay" "$client" "$engine" "$loader" 2>&1 | tee "$overlay.log"
log=$(cat "$overlay.log")
rm -f "$overlay.log"
if [ -n "$loader" ]; then
  grep '^device: ' <<<"$log" >"$overlay/wrapper" && grep '^device: ' "$overlay.ours" >"$overlay/loader"
  if ! cmp "$overlay/wrapper" "$overlay/loader" || ! grep -q 'devices, 96-byte' "$overlay.ours.log"; then
    echo "FAILED: through the loader: $(cat "$overlay.ours" "$overlay.ours.log")" >&2
    exit 1
  fi
  rm -f "$overlay".ours*
fi
case "$log" in
*"backend IDs speak the ONNX 1.x ABI: the caller is ONNX 1.x's libonnxifi.so"*) ;;
*)
  if [ "${EXPECT_DETECTION:-1}" = 1 ]; then
    echo "FAILED: the wrapper was not recognised" >&2
    exit 1
  fi
  ;;
esac
