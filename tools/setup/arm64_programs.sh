# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced, after debian_root.sh.
#
#   run_arm64_in_root FOLDER COMMAND...    as run_in_root, in a root with qemu-user-static in which arm64 programs
#                                          start like others, also those that other programs start
#
# The kernel starts an emulator for them in a user namespace of the command's own (Linux 6.7 and later): the machine's
# table of binary formats stays as it is. Of users, there is only root in it.

run_arm64_in_root() {
  local root="$1" environment
  shift
  mapfile -t environment < <(debian_root_environment)
  # The magic is that of a 64-bit little-endian ELF program or library for AArch64, as Debian's qemu-user-static has it.
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --user --map-root-user --mount --pid --fork --kill-child bash -euc '
    root="$1"; shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc" 2>/dev/null || {
      echo "arm64: a kernel from 6.7 on is needed, with binfmt_misc in user namespaces" >&2; exit 1; }
    printf "%s" ":heddle-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$root/usr/bin/qemu-aarch64-static:FP" >"$root/proc/sys/fs/binfmt_misc/register"
    exec chroot "$root" env -i "$@"' run_arm64_in_root "$root" "${environment[@]}" "$@" </dev/null
}
