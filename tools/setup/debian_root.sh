# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: fresh Debian roots from this machine's own apt sources, and commands in them.
#
#   make_debian_root FOLDER LOG                   minimal (debootstrap --variant=minbase)
#   run_in_root FOLDER COMMAND...                 in a mount and process namespace of its own: whatever happens,
#                                                 nothing stays mounted and no process is left
#
# Both need root. Failures end the process with a line on stderr.

DEBIAN_ROOT_SUITE=bookworm

debian_root_die() {
  printf '%s: error: %s\n' "$(basename "$0" .sh)" "$*" >&2
  exit 1
}

# Debian's own archive, as this machine's apt reaches it.
debian_root_mirror() {
  # shellcheck disable=SC2016  # the $(...) are apt's own
  apt-get indextargets --format '$(LABEL) $(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$DEBIAN_ROOT_SUITE" '$1 == "Debian" && $2 == suite && $3 == "main" { print $4; exit }'
}

make_debian_root() {
  local root="$1" log="$2" mirror
  [[ "$(id -u)" == 0 ]] || debian_root_die "making a root file system needs root"
  command -v debootstrap >/dev/null ||
    debian_root_die "install debootstrap first: apt-get install debootstrap"
  mirror="$(debian_root_mirror)"
  [[ -n "$mirror" ]] ||
    debian_root_die "apt has no source for Debian $DEBIAN_ROOT_SUITE main (run apt-get update once)"
  debootstrap --variant=minbase "$DEBIAN_ROOT_SUITE" "$root" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    debian_root_die "debootstrap failed"
  }
  # The same Debian sources (with updates and security) and the same way to the network.
  rm -f "$root/etc/apt/sources.list"
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)' 'Identifier: Packages' |
    awk -F'|' -v suite="$DEBIAN_ROOT_SUITE" \
      '$1 == "Debian" && index($3, suite) == 1 { print "deb " $2 " " $3 " " $4 }' | sort -u \
    >"$root/etc/apt/sources.list"
  apt-config dump Acquire | grep -iE '^Acquire::(http|https)::.*proxy' \
    >"$root/etc/apt/apt.conf.d/90proxy" || true
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# The environment of a command in a root, one NAME=VALUE per line.
debian_root_environment() {
  printf '%s\n' PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 CI=true
  local name
  for name in http_proxy https_proxy no_proxy; do
    [[ -z "${!name:-}" ]] || printf '%s=%s\n' "$name" "${!name}"
  done
}

run_in_root() {
  local root="$1" environment
  shift
  mapfile -t environment < <(debian_root_environment)
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --mount --pid --fork --kill-child bash -euc '
    root="$1"; shift
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    exec chroot "$root" env -i "$@"' run_in_root "$root" "${environment[@]}" "$@" </dev/null
}
