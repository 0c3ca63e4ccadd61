#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The half of packages.sh that runs in a minimal Debian 12 root, as root, with the packages in /packages, those of 0.1
# in /packages/old and ./dev install's files in /opt/heddle. Each step says what it has seen; the first that fails ends
# the run.
#
#   packages_inside.sh RUNTIME_KB CLOSURE_KB
set -euo pipefail

runtime_kb="$1" closure_kb="$2"
export DEBIAN_FRONTEND=noninteractive
scratch="$(mktemp -d)"
chmod 755 "$scratch"
cd "$scratch"
digits=/usr/share/heddle/digits

die() {
  printf 'packages: FAILED: %s\n' "$*" >&2
  exit 1
}

step() {
  [[ -z "${current:-}" ]] || printf '%6d s  ok      %s\n' $((SECONDS - started)) "$current"
  current="$1" started=$SECONDS
}
trap '[[ $? == 0 ]] || printf "%6d s  FAILED  %s\n" $((SECONDS - started)) "${current:-start}"' EXIT

apt_install() {
  apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends "$@" >"$scratch/apt.log" 2>&1 || {
    tail -n 30 "$scratch/apt.log" >&2
    die "apt-get install $*"
  }
}

# apt_get WORDS...: what else apt-get is for.
apt_get() {
  apt-get -qq -y "$@" >"$scratch/apt.log" 2>&1 || {
    tail -n 30 "$scratch/apt.log" >&2
    die "apt-get $*"
  }
}

# Everything that a package may leave: files, users, groups. Not: caches and logs, what dpkg and apt know of
# themselves, what depmod makes, DKMS's signing key, what useradd keeps of a file before it changes it, what programs
# keep in the home of who runs them, notes of systemd.
snapshot() {
  {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /packages -o -path /opt/heddle \
      -o -path /root -o -path /run/systemd -o -path /var/cache -o -path /var/log -o -path /var/lib/apt \
      -o -path /var/lib/dpkg \) -prune \
      -o \( -path '/lib/modules/*/modules.*' -o -path '/usr/lib/modules/*/modules.*' -o -path '/var/lib/dkms/mok.*' \
        -o -path '/etc/*-' \) \
      -o -print
    # (rdma is left by libibverbs1, which QEMU brings.)
    sed 's/:.*//' /etc/passwd /etc/group | grep -vx rdma
    dpkg-query -W -f '${Package} ${db:Status-Status}\n'
  } | sort
}

step "tools of a developer: gcc, pkg-config, cmake, shells, systemd"
apt-get -qq update
# libonnx-dev, libonnxifi: ONNX's own header and wrapper. What heddle needs is not among them.
apt_install gcc libc6-dev make cmake pkg-config libonnx-dev libonnxifi zsh fish systemd udev

step "heddle-runtime alone: at most $runtime_kb kB, with what it depends on at most $closure_kb kB, no GUI, no Java"
apt_install /packages/heddle-runtime_*.deb
size=$(dpkg-query -W -f '${Installed-Size}' heddle-runtime)
mapfile -t closure < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances --installed heddle-runtime | grep '^[a-z0-9]' | sort -u)
total=$(dpkg-query -W -f '${Installed-Size}\n' "${closure[@]}" | awk '{ sum += $1 } END { print sum }')
printf '          heddle-runtime %d kB, with %s: %d kB\n' "$size" "${closure[*]}" "$total"
[[ "$size" -le "$runtime_kb" ]] || die "heddle-runtime takes $size kB"
[[ "$total" -le "$closure_kb" ]] || die "heddle-runtime and its dependencies take $total kB"
! printf '%s\n' "${closure[@]}" | grep -E '^(libx11|libgtk|libgl|libqt|libwayland|default-jre|openjdk)' ||
  die "heddle-runtime depends on a GUI or Java"
apt_get purge --autoremove heddle-runtime
snapshot >before

# heddle-run classifies twenty images.
twenty=(heddle-run "$digits/digits_int8.onnx" --images "$digits/digits_test.u8" --dims "1,28,28"
  --labels "$digits/digits_test.i32" --limit 20)

# wants TEXT COMMAND...: the command ends well and says TEXT.
wants() {
  local text="$1" said
  shift
  said="$("$@" 2>&1)" || die "'$*' ended with $?: $said"
  [[ "$said" == *"$text"* ]] || die "'$*' said, without '$text': $said"
}

step "release 0.1, and a driver daemon of it that runs"
apt_install /packages/old/heddle-{runtime,tools,sim,hosted,dev,doc}_*.deb
wants "heddle-run 0.1.0" heddle-run --version
wants "top-1 20" "${twenty[@]}" --device sim
heddle-sim --socket old.card >old.log 2>&1 &
old_sim=$!
until [[ -S old.card ]]; do
  kill -0 $old_sim || die "heddle-sim of 0.1: $(cat old.log)"
  sleep 0.1
done
heddle-hosted --socket old.sock --card old.card >>old.log 2>&1 &
old_driver=$!
until [[ -S old.sock ]]; do
  kill -0 $old_driver || die "heddle-hosted of 0.1: $(cat old.log)"
  sleep 0.1
done
wants "top-1 20" "${twenty[@]}" --device "hosted:$PWD/old.sock"

step "the upgrade: all packages but heddle-dkms and heddle-driver-tests"
apt_install /packages/heddle-{runtime,tools,sim,hosted,dev,doc,conformance}_*.deb
[[ ! -e /usr/lib/onnx1 ]] || die "what only 0.1 had is still there: $(find /usr/lib/onnx1)"
dpkg --verify heddle-{runtime,tools,sim,hosted,dev,doc} || die "files are not those of the packages"
# The daemon that runs is still 0.1's: one sentence, no hang.
status=0
said="$(timeout 60 "${twenty[@]}" --device "hosted:$PWD/old.sock" 2>&1)" || status=$?
[[ $status == 0 || ($status == 1 && "$said" == *error*) ]] || die "on 0.1's daemon (exit $status): $said"
printf '          on the daemon of 0.1 that still runs: %s\n' "$(tail -n 1 <<<"$said")"
kill $old_driver $old_sim
wait $old_driver $old_sim || true
wants "top-1 20" "${twenty[@]}" --device sim
programs=(heddle-compile heddle-hosted heddle-run heddle-sim heddle-smi heddle-timing onnxifi-conformance)
for program in "${programs[@]}"; do
  said="$("$program" --version)"
  [[ "$said" == "$program $(dpkg-query -W -f '${Version}' heddle-tools)" ]] || die "--version says $said"
done

step "manual pages and completions"
for program in "${programs[@]}"; do
  zcat "/usr/share/man/man1/$program.1.gz" | grep -q '^\.TH' || die "no manual page of $program"
  bash -n "/usr/share/bash-completion/completions/$program"
  zsh -n "/usr/share/zsh/vendor-completions/_$program"
  fish -n "/usr/share/fish/vendor_completions.d/$program.fish"
done
[[ "$(fish -c 'complete -C "heddle-run --core rt"' | cut -f1)" == rtl ]] || die "fish does not complete --core"
bash -c 'source /usr/share/bash-completion/completions/heddle-smi; COMP_WORDS=(heddle-smi doc); COMP_CWORD=1
  _heddle_smi; [[ "${COMPREPLY[*]}" == doctor ]]' || die "bash does not complete doctor"

step "the example of heddle-dev, with pkg-config, on a private card"
export HEDDLE_DEVICE=sim
cp -r /usr/share/doc/heddle-dev/examples example
# shellcheck disable=SC2046  # words
gcc -Wall -Werror example/digit.c $(pkg-config --cflags --libs heddle) -o digit
wants "image 7 is a 7 (" ./digit $digits/digits_fp32.onnx $digits/digits_test.u8 7

step "the same with CMake"
cmake -S example -B build >cmake.log 2>&1 || die "cmake: $(cat cmake.log)"
cmake --build build >>cmake.log 2>&1 || die "cmake --build: $(cat cmake.log)"
wants "image 7 is a 7 (" build/digit $digits/digits_fp32.onnx $digits/digits_test.u8 7

step "ONNX 1.x: Debian's wrapper finds the library, and a program may link the other flavour"
cat >ids.c <<'C'
#include <onnx/onnxifi.h>
#include <stdio.h>
int main(void) {
  onnxBackendID ids[8];
  size_t count = 8;
  onnxStatus status = onnxGetBackendIDs(ids, &count);
  if (status != ONNXIFI_STATUS_SUCCESS) return 1;
  char name[64];
  size_t size = sizeof name;
  status = onnxGetBackendInfo(ids[0], ONNXIFI_BACKEND_NAME, name, &size);
  if (status != ONNXIFI_STATUS_SUCCESS) return 2;
  printf("%zu backends, the first %.*s\n", count, (int)size, name);
  return 0;
}
C
gcc ids.c -lonnxifi -o wrapped
wants "1 backends, the first Heddle" ./wrapped
# shellcheck disable=SC2046
gcc ids.c $(pkg-config --cflags --libs heddle-onnx1) -o direct
ldd direct | grep -q /usr/lib/heddle/onnx1/ || die "the program of ONNX 1.x finds the other library"
wants "1 backends, the first Heddle" ./direct

step "our loader: the same program, Debian's file untouched, a library that crashes beside ours"
dpkg --verify libonnxifi || die "Debian's libonnxifi is not what it was"
wants "1 backends, the first Heddle" env LD_LIBRARY_PATH=/usr/lib/heddle/loader ./wrapped
cat >crash.c <<'C'
__attribute__((constructor)) static void Crash(void) { __builtin_trap(); }
C
gcc -shared -fPIC crash.c -o libonnxifi-crash.so
said="$(LD_LIBRARY_PATH=/usr/lib/heddle/loader ONNXIFI_VENDOR_PATH=/usr/lib:$PWD ./wrapped 2>&1)" || die "$said"
[[ "$said" == *"libonnxifi-crash.so crashed the process that tried it"*"1 backends, the first Heddle"* ]] || die "$said"

step "heddle-compile and heddle-run on a private card"
wants "top-1" "${twenty[@]}"
heddle-compile $digits/digits_int8.onnx -o digits.hpk 2>/dev/null
heddle-run digits.hpk >/dev/null

step "onnxifi-conformance over the library: it conforms"
onnxifi-conformance --lib /usr/lib/libonnxifi-heddle.so >conformance.log 2>&1 || die "$(tail -n 30 conformance.log)"
printf '          %s\n' "$(grep '^[0-9]* cases\?: ' conformance.log)"
unset HEDDLE_DEVICE

step "the units, as systemd reads them"
systemd-analyze verify --man=no /lib/systemd/system/heddle-hosted.service /lib/systemd/system/heddle-sim@1.service

# What systemd would do for a unit, as far as it matters: its ExecStart, as its user, in its runtime directory.
start_unit() {
  local instance="${2:-}" file="/lib/systemd/system/$1" name value line folder mode
  line="$(sed -n 's/^ExecStart=//p' "$file")"
  while IFS='=' read -r name value; do
    line="${line//\$$name/$value}"
  done < <(sed -n 's/^Environment="\(.*\)"$/\1/p' "$file")
  folder="$(sed -n 's/^RuntimeDirectory=//p' "$file")"
  mode="$(sed -n 's/^RuntimeDirectoryMode=//p' "$file")"
  install -d -o heddle-test -g heddle-test -m "${mode:-0755}" "/run/${folder//%i/$instance}"
  local groups=(--clear-groups)
  grep -q '^SupplementaryGroups=render$' "$file" && groups=(--groups render)
  # shellcheck disable=SC2086  # words
  setpriv --reuid heddle-test --regid heddle-test "${groups[@]}" --no-new-privs ${line//%i/$instance} &
}

step "two users of the group render share a card of heddle-hosted, a third one may not"
useradd --system --no-create-home heddle-test
for user in alice bob carol; do useradd --no-create-home $user; done
usermod -aG render alice
usermod -aG render bob
start_unit heddle-sim@.service 1
start_unit heddle-hosted.service
for ((i = 0; i < 100; ++i)); do
  heddle-smi 2>/dev/null | grep -q hosted && break
  sleep 0.1
done
[[ "$(stat -c '%U %G %a' /run/heddle/hosted.sock)" == "heddle-test render 660" ]] ||
  die "the socket is $(stat -c '%U %G %a' /run/heddle/hosted.sock)"
as() { setpriv --reuid "$1" --regid "$1" --init-groups env HOME=/ "${@:2}"; }
as alice "${twenty[@]}" --device hosted:/run/heddle/hosted.sock >alice.log 2>&1 &
alice=$!
as bob "${twenty[@]}" >bob.log 2>&1 || die "bob, without a word of which device: $(cat bob.log)"
wait $alice || die "alice: $(cat alice.log)"
[[ "$(grep -l 'top-1' alice.log bob.log | wc -l)" == 2 ]] || die "no top-1: $(cat alice.log bob.log)"
grep -q 'hosted:/run/heddle/hosted.sock#0' bob.log || die "bob got a card of his own: $(cat bob.log)"
status=0
as carol "${twenty[@]}" --device hosted:/run/heddle/hosted.sock >carol.log 2>&1 || status=$?
[[ $status != 0 ]] || die "carol may use the card: $(cat carol.log)"
grep -qi 'permission' carol.log || die "carol (exit $status): $(cat carol.log)"
printf '          carol: %s\n' "$(tail -n 1 carol.log)"
# The doctor's cure is the one that helps.
as carol env HEDDLE_DEVICE=hosted:/run/heddle/hosted.sock heddle-smi doctor >doctor.log || true
grep -q 'sudo usermod -aG render' doctor.log || die "heddle-smi doctor has no cure for carol: $(cat doctor.log)"
usermod -aG render carol
as carol "${twenty[@]}" >carol.log 2>&1 || die "carol, now in the group: $(cat carol.log)"
heddle-sim ctl --control /run/heddle-sim-1/card.ctl quit >/dev/null
kill "$(pidof heddle-hosted)"
wait
for user in alice bob carol heddle-test; do userdel $user; done
rm -rf /run/heddle /run/heddle-sim-1

step "./dev install: the same from another prefix, with the packages out of the way"
# Their dependencies stay for now: without dpkg, somebody has installed them in another way.
apt_get purge heddle-tools heddle-sim heddle-hosted heddle-dev heddle-doc heddle-conformance heddle-runtime
/opt/heddle/bin/heddle-run /opt/heddle/share/heddle/digits/digits_int8.onnx >/dev/null
export PKG_CONFIG_PATH=/opt/heddle/lib/pkgconfig
# shellcheck disable=SC2046
gcc /opt/heddle/share/heddle/example/digit.c $(pkg-config --cflags --libs heddle) -Wl,-rpath,/opt/heddle/lib -o digit
wants "image 7 is a 7 (" ./digit /opt/heddle/share/heddle/digits/digits_{fp32.onnx,test.u8} 7
cmake -S /opt/heddle/share/heddle/example -B build2 -DCMAKE_PREFIX_PATH=/opt/heddle >cmake.log 2>&1 ||
  die "cmake: $(cat cmake.log)"
cmake --build build2 >>cmake.log 2>&1 || die "cmake --build: $(cat cmake.log)"
wants "image 7 is a 7 (" build2/digit /opt/heddle/share/heddle/digits/digits_{fp32.onnx,test.u8} 7
unset PKG_CONFIG_PATH

step "removed and purged: nothing is left"
apt_get autoremove --purge
snapshot >after
diff before after || die "something was left behind (>), or is gone (<)"

step "heddle-dkms of 0.1 builds its module for Debian's kernel"
apt_install dkms linux-headers-amd64
snapshot >before
apt_install /packages/old/heddle-dkms_*.deb
dkms status | sed 's/^/          /'
[[ "$(dkms status)" == heddle/0.1.0*installed ]] || die "dkms: $(dkms status; cat "$scratch/apt.log")"

step "its upgrade builds the module"
apt_install /packages/heddle-dkms_*.deb
[[ "$(dkms status)" != *0.1.0* ]] || die "the module of 0.1 is still there: $(dkms status)"
dkms status | tee dkms.log | sed 's/^/          /'
grep -q '^heddle/.*: installed$' dkms.log || die "dkms: $(cat dkms.log "$scratch/apt.log")"
module="$(find /lib/modules/ -name 'heddle.ko*')"
[[ -n "$module" ]] || die "there is no heddle.ko"
printf '          %s: %s\n' "$module" "$(modinfo -F vermagic "$module")"
release="$(basename "$(dirname "$(find /lib/modules/ -maxdepth 2 -name build)")")"

step "the kernel's upgrade, to Debian's 6.12: its headers come, and DKMS builds the module again"
later="$(apt-cache pkgnames linux-headers-6.12. |
  sed -n '/^linux-headers-6\.12\.[0-9.]*\(-[0-9]*\|+deb12\)-amd64$/p' | sort -V | tail -n 1)"
[[ -n "$later" ]] || die "apt knows no headers of 6.12"
apt_install "$later"
dkms status | tee dkms.log | sed 's/^/          /'
[[ "$(grep -c '^heddle/.*: installed$' dkms.log)" == 2 ]] || die "dkms: $(cat dkms.log "$scratch/apt.log")"
module_later="$(find "/lib/modules/${later#linux-headers-}/" -name 'heddle.ko*')"
[[ "$(modinfo -F vermagic "$module_later")" == "${later#linux-headers-} "* ]] ||
  die "it is for $(modinfo -F vermagic "$module_later")"

step "heddle-driver-tests: that module in that kernel, which is not installed, as an ordinary user"
apt_install /packages/heddle-{runtime,tools,sim,hosted,driver-tests}_*.deb
[[ "$(heddle-driver-tests --version)" == "heddle-driver-tests $(dpkg-query -W -f '${Version}' heddle-driver-tests)" ]] ||
  die "--version says $(heddle-driver-tests --version)"
(cd "$scratch" && apt-get -qq download "linux-image-$release") || die "apt-get download linux-image-$release"
case "$module" in
  *.xz) xz -dc "$module" >heddle.ko ;;
  *.zst) zstd -qdc "$module" >heddle.ko ;;
  *) cp "$module" heddle.ko ;;
esac
useradd --no-create-home dave
install -d -o dave verdict
setpriv --reuid dave --regid dave --clear-groups env HOME=/ heddle-driver-tests --quiet --kernel linux-image-*.deb \
  --build-tree "/lib/modules/$release/build" --module heddle.ko --time-factor 4 --case driver.driver --case driver.models \
  --case uapi.cts --case machine.sleep --report verdict/page.html --report verdict/junit.xml >driver.log 2>&1 ||
  die "$(cat driver.log)"
[[ -s verdict/page.html && -s verdict/junit.xml ]] || die "no reports"
printf '          %s\n' "$(tail -n 1 driver.log)"
userdel dave
[[ -z "$(find /usr/lib/heddle -name '*.pyc')" ]] || die "compiled Python is left in /usr/lib"
apt_get purge --autoremove heddle-driver-tests heddle-tools heddle-sim heddle-hosted heddle-runtime

step "heddle-dkms purged: nothing is left"
apt_get purge heddle-dkms
[[ -z "$(find /lib/modules/ -name 'heddle.ko*')" ]] || die "the module is still there"
# (The headers had brought their kernel, which apt does not remove by itself.)
apt_get purge --autoremove "$later" "linux-image-${later#linux-headers-}"
snapshot >after
diff before after || die "something was left behind (>), or is gone (<)"
step end
