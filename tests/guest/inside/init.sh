#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of the guest, in the initramfs: loads the modules that lie beside it, puts a writable
# overlay over the host's root (read-only), mounts the folder that guest and host share at
# /run/heddle, and becomes agent.sh of that folder. Both come over 9p ("root" and "share") in QEMU,
# over hostfs in user-mode Linux. Whatever fails is fatal: the
# kernel panics when process 1 ends, and that is a failed test.
set -e
export PATH=/bin
mkdir -p /proc /sys /dev /host /new /upper
mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
if grep -qw hostfs /proc/filesystems; then
  share="$(sed 's/.*heddle_share=\([^ ]*\).*/\1/' /proc/cmdline)"
  mount_root() { mount -t hostfs -o ro none /host; }
  mount_share() { mount -t hostfs -o "$share" none "$1"; }
else
  while read -r module; do
    options=
    # Contexts of one priority take turns, in later kernels as in 6.1.
    [ "$module" != gpu-sched.ko ] || options=sched_policy=0
    insmod "/modules/$module" $options
  done </modules/order
  options=trans=virtio,version=9p2000.L,msize=512000
  mount_root() { mount -t 9p -o "$options,cache=loose,ro" root /host; }
  ip link set lo up
  mount_share() { mount -t 9p -o "$options,cache=none" share "$1"; }
fi
mount_root
mount -t tmpfs -o mode=755 upper /upper
mkdir /upper/data /upper/work
mount -t overlay -o lowerdir=/host,upperdir=/upper/data,workdir=/upper/work overlay /new
for folder in dev proc sys; do
  mount --move "/$folder" "/new/$folder"
done
mount -t tmpfs -o mode=755 run /new/run
mkdir -p /new/run/heddle /new/dev/shm
cp -a /bin /new/run/bin
mount -t tmpfs shm /new/dev/shm
mount_share /new/run/heddle
mount -t debugfs debugfs /new/sys/kernel/debug
export PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec switch_root /new /run/bin/sh /run/heddle/agent.sh
