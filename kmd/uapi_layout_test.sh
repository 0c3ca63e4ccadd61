#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The user interface is laid out as uapi_layout.txt has it, for 64-bit and 32-bit processes of x86 and ARM.
set -eu
header=kmd/include/uapi/drm/heddle_drm.h
layout="python3 -B kmd/uapi_layout.py"
for target in x86_64-linux-gnu i386-linux-gnu aarch64-linux-gnu arm-linux-gnueabihf; do
  if ! $layout $header $target | diff -u kmd/uapi_layout.txt -; then
    echo "the layout for $target is not the one of kmd/uapi_layout.txt; if there is only more of it:" >&2
    echo "  kmd/uapi_layout.py $header --update kmd/uapi_layout.txt" >&2
    exit 1
  fi
done

# What the check is for. A field of 64 bits after one of 32: i386 has no gap there.
cd "${TEST_TMPDIR:-/tmp}"
root="$OLDPWD"
fails() {
  if (cd "$root" && "$@") >/dev/null 2>&1; then
    echo "was accepted: $*" >&2
    exit 1
  fi
}
sed 's/^\t__u32 pad;$//' "$root/$header" >gap.h
(cd "$root" && $layout "$OLDPWD/gap.h" x86_64-linux-gnu) >a
(cd "$root" && $layout "$OLDPWD/gap.h" i386-linux-gnu) >b
if cmp -s a b; then
  echo "a gap that only x86-64 has was not seen" >&2
  exit 1
fi
# A field that moved, and a request with another number.
cp "$root/kmd/uapi_layout.txt" recorded.txt
chmod u+w recorded.txt
for change in 's/^\t__u64 ptr;/\t__u64 before;\n\t__u64 ptr;/' 's/DRM_HEDDLE_WAIT\t\t\t0x08/DRM_HEDDLE_WAIT\t\t\t0x38/'; do
  sed "$change" "$root/$header" >changed.h
  if cmp -s changed.h "$root/$header"; then
    echo "the header has no more what '$change' would change" >&2
    exit 1
  fi
  fails $layout "$PWD/changed.h" --update "$PWD/recorded.txt"
  cmp recorded.txt "$root/kmd/uapi_layout.txt"
done
