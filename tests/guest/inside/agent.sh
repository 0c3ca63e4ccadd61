#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of the guest from then on: does what the host puts into the shared folder.
#
#   environment    shell text, read once: variables, and the folder to work in
#   commands/N     shell text; N counts from 0. Its output goes to out/N.out, and when it has ended
#                  out/N.rc gets its exit code
#   orders/N       the same, carried out while a command runs, in user-mode Linux only: how a card is
#                  plugged there; orders/N.rc gets the exit code
#   shutdown       ends the guest with the exit code that says so
#
# With HEDDLE_GUEST_SHELL in the environment it is a shell on the console instead, or the one command
# HEDDLE_GUEST_COMMAND, after loading HEDDLE_GUEST_MODULE; out/shell.rc gets its exit code. With
# HEDDLE_GUEST_PIPED the shell reads what the host puts into the files stdin.N; an empty one is the end.
#
# Files appear by renaming, complete. The kernel's log tells where a command begins and ends.
share=/run/heddle
. "$share/environment"
cd "$HEDDLE_GUEST_CWD" || exit 1
cp "$share/heddle-host" /run/bin/

uml=
! grep -qw hostfs /proc/filesystems || uml=1

end() {
  sync
  if [ -n "$uml" ]; then
    # Cards that are still there would be taken out when most of the kernel is shut down.
    for card in /sys/bus/platform/drivers/virtio-uml/virtio-uml.*; do
      [ ! -e "$card" ] || basename "$card" >/sys/bus/platform/drivers/virtio-uml/unbind
    done
    echo 33 >/proc/exitcode
    poweroff -f
  fi
  # isa-debug-exit: QEMU's exit code becomes 0x10 * 2 + 1. A panic, too, would end QEMU with 0.
  printf '\020' | dd of=/dev/port bs=1 seek=244 count=1 conv=notrunc 2>/dev/null
  while :; do sleep 1; done
}

# On the console, the shell would ask for the cursor's position and take what comes next for the answer; and
# there is no end of file.
piped() {
  n=0
  until [ -f "$share/stdin.$n" ] && [ ! -s "$share/stdin.$n" ]; do
    if [ -f "$share/stdin.$n" ]; then
      cat "$share/stdin.$n"
      rm "$share/stdin.$n"
      n=$((n + 1))
    else
      sleep 0.02
    fi
  done
}

if [ -n "${HEDDLE_GUEST_SHELL:-}" ]; then
  [ -z "$HEDDLE_GUEST_MODULE" ] || insmod "$HEDDLE_GUEST_MODULE"
  if [ -n "$HEDDLE_GUEST_COMMAND" ]; then
    sh -c "$HEDDLE_GUEST_COMMAND" </dev/null >/dev/ttyS0 2>&1
  elif [ -n "$HEDDLE_GUEST_PIPED" ]; then
    mkfifo /run/stdin
    piped >/run/stdin &
    sh </run/stdin >/dev/ttyS0 2>&1
  else
    echo 7 >/proc/sys/kernel/printk
    setsid -c sh -i </dev/ttyS0 >/dev/ttyS0 2>&1
  fi
  echo $? >"$share/out/shell.rc"
  end
fi

if [ -n "$uml" ]; then
  (
    n=0
    while :; do
      if [ -f "$share/orders/$n" ]; then
        sh "$share/orders/$n" >/dev/null 2>&1 </dev/null
        echo "$?" >"$share/orders/$n.new"
        mv "$share/orders/$n.new" "$share/orders/$n.rc"
        n=$((n + 1))
      else
        sleep 0.01
      fi
    done
  ) &
fi

n=0
: >"$share/ready"
# From here on the console has the whole log; until here, warnings.
dmesg >"$share/dmesg"
echo 8 >/proc/sys/kernel/printk
while :; do
  if [ -f "$share/commands/$n" ]; then
    echo "heddle-guest: begin $n" >/dev/kmsg
    setsid sh "$share/commands/$n" </dev/null >"$share/out/$n.out" 2>&1
    code=$?
    echo "heddle-guest: end $n" >/dev/kmsg
    echo "$code" >"$share/out/$n.new"
    mv "$share/out/$n.new" "$share/out/$n.rc"
    n=$((n + 1))
  elif [ -f "$share/shutdown" ]; then
    end
  else
    sleep 0.01
  fi
done
