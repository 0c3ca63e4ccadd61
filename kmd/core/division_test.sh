#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# kmd/core asks nothing of a 32-bit kernel that it does not have: no division of 64 bits, nor
# anything else that compilers take from their own library.
set -eu
folder=${TEST_TMPDIR:-$(mktemp -d)}

# What an object wants from outside, but for the core's own functions and tables.
wants() {
  clang --target=i386-linux-gnu -O2 -std=gnu11 -ffreestanding -fno-pic -fno-stack-protector \
    -Ikmd/core -isystem kmd/hosted/include -isystem kmd/include/uapi -isystem rtl/spec/generated \
    -isystem /usr/include/libdrm -idirafter "/usr/include/$(uname -m)-linux-gnu" -c "$1" -o "$folder/object.o"
  nm -u "$folder/object.o" | awk '{ print $2 }' | grep -v -e '^heddle_' -e '^mem[a-z]*$' || true
}

result=0
files=0
for file in kmd/core/*.c; do
  files=$((files + 1))
  found=$(wants "$file")
  if [ -n "$found" ]; then
    echo "$file wants" $found >&2
    result=1
  fi
done
[ "$files" -ge 10 ] || { echo "only $files files were looked at" >&2; exit 1; }

# That a division would be found.
cat > "$folder/divides.c" <<'END'
unsigned long long heddle_divide(unsigned long long a, unsigned long long b)
{
	return a / b;
}
END
case $(wants "$folder/divides.c") in
  *__udivdi3*) ;;
  *) echo "a division of 64 bits is not found" >&2; result=1 ;;
esac
exit $result
