#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which versions of which packages guest_kernel.sh downloads, from what apt says; apt itself is not asked.
set -euo pipefail
fake="$TEST_TMPDIR/bin"
mkdir "$fake"
export APT="$TEST_TMPDIR/apt" PATH="$fake:$PATH" XDG_CACHE_HOME="$TEST_TMPDIR/cache" HEDDLE_GUEST_KERNEL=6.1.0-56
mkdir "$APT"

# What apt knows: $APT/NAME has the versions of a package, the one it would install first; $APT/NAME.depends.
cat >"$fake/apt-cache" <<'SH'
#!/bin/bash
verb="$1" name="${!#}"
case "$verb" in
  show) [[ -f "$APT/$name" ]] && sed -n '1s/^/Version: /p' "$APT/$name" ;;
  madison) [[ ! -f "$APT/$name" ]] || sed "s,.*, $name | & | http://deb.example bookworm/main," "$APT/$name" ;;
  depends) [[ ! -f "$APT/${name%%=*}.depends" ]] || sed 's/^/  Depends: /' "$APT/${name%%=*}.depends" ;;
esac
SH
# It writes down what it is to download, and has nothing.
cat >"$fake/apt-get" <<'SH'
#!/bin/bash
[[ " $* " == *" download "* ]] || exit 0
printf '%s\n' "${@:$(($(printf '%s\n' "$@" | grep -nx download | cut -d: -f1) + 1))}" >"$APT/downloaded"
exit 1
SH
printf '#!/bin/bash\nshift\nexec "$@"\n' >"$fake/sudo"
printf '#!/bin/bash\necho amd64\n' >"$fake/dpkg"
chmod +x "$fake"/*

# downloads WHAT PACKAGE=VERSION...
downloads() {
  local what="$1" said
  shift
  rm -f "$APT/downloaded"
  said="$(bash tools/setup/guest_kernel.sh 2>&1)" && { echo "FAILED: $what: a kernel from nothing"; exit 1; }
  [[ "$(sort "$APT/downloaded")" == "$(printf '%s\n' "$@" | sort)" ]] || {
    printf 'FAILED: %s: downloads\n%s\nand says\n%s\n' "$what" "$(cat "$APT/downloaded")" "$said"
    exit 1
  }
  [[ "$said" == *"cannot download kernel 6.1.0-56"* ]] || { printf 'FAILED: %s: %s\n' "$what" "$said"; exit 1; }
}

image=linux-image-6.1.0-56-amd64
headers=linux-headers-6.1.0-56-amd64
common=linux-headers-6.1.0-56-common
tools=linux-kbuild-6.1
printf '%s\n' "$common" "$tools" linux-compiler-gcc-12-x86 >"$APT/$headers.depends"
for package in "$image" "$headers" "$common" "$tools"; do
  printf '%s\n' 6.1.192-2 6.1.190-1 >"$APT/$package"
done
downloads "one version of all" "$image=6.1.192-2" "$headers=6.1.192-2" "$common=6.1.192-2" "$tools=6.1.192-2"

printf '%s\n' 6.1.192-3 6.1.192-2 >"$APT/$tools"
downloads "of several, that of the kernel" "$image=6.1.192-2" "$headers=6.1.192-2" "$common=6.1.192-2" "$tools=6.1.192-2"

printf '%s\n' 6.1.192-3 >"$APT/$tools"
downloads "tools a revision ahead" "$image=6.1.192-2" "$headers=6.1.192-2" "$common=6.1.192-2" "$tools=6.1.192-3"

rm "$APT/$tools"
downloads "tools that apt does not know" "$image=6.1.192-2" "$headers=6.1.192-2" "$common=6.1.192-2" "$tools=6.1.192-2"
echo passed
