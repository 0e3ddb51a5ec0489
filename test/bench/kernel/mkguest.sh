#!/bin/bash
# mkguest.sh ROOT KERNEL GUEST: makes GUEST/disk.img and GUEST/initrd for QEMU out of the tree of the bench node and of
# Debian's kernel, which lies unpacked in KERNEL.
#
# The disk is XFS, as RHCOS has it. What changes often (the program under test, the files of the bench) comes as a tar on
# a second disk, which the first boot lays over the tree.
set -euo pipefail
root=$1 kernel=$2 guest=$3
if [ "${4:-}" != inside ]; then
  rm -rf "$guest.new"
  mkdir -p "$guest.new"
  unshare --mount --propagation private "$0" "$root" "$kernel" "$guest.new" inside
  rm -rf "$guest"
  mv -T "$guest.new" "$guest"
  exit 0
fi

version=$(ls "$kernel/lib/modules")
work=$(mktemp -d)
trap 'umount -R "$work" 2>/dev/null || true; rmdir "$work"' EXIT
mount -t tmpfs none "$work"
mkdir "$work"/{upper,work,tree,disk,ird}
mount -t overlay overlay -o "lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/tree"
cp -a "$kernel/lib/modules" "$work/tree/usr/lib/"
chroot "$work/tree" depmod "$version"
# What a first boot would make of a new tree (caches, a machine's id) takes an emulated processor half a minute.
chroot "$work/tree" ldconfig
echo 5a0f4b1c3d2e4f60817263544536271f > "$work/tree/etc/machine-id"

truncate -s 4G "$guest/disk.img"
mkfs.xfs -q "$guest/disk.img"
mount -o loop "$guest/disk.img" "$work/disk"
touch "$work/tree/etc/.updated" "$work/tree/var/.updated"
cp -a "$work/tree/." "$work/disk/"
umount "$work/disk"

# The initial RAM disk: what the kernel needs before it sees the disk.
ird=$work/ird
mkdir -p "$ird"/{bin,dev,proc,sys,root,modules}
cp /bin/busybox "$ird/bin/"
n=10
for module in virtio_pci virtio_blk xfs; do
  chroot "$work/tree" modprobe -S "$version" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
  cp "$work/tree/$file" "$ird/modules/$n-$(basename "$file")"
  n=$((n + 1))
done
cat > "$ird/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /modules/*; do insmod "$module"; done
until [ -b /dev/vda ] && [ -b /dev/vdb ]; do sleep 0.1; done
mount -t xfs /dev/vda /root
if [ ! -e /root/etc/bench-layer ]; then
  # Half a layer would be a guest that lacks something, which a test would only notice by waiting for it.
  tar -x -f /dev/vdb -C /root || poweroff -f
  echo laid > /root/etc/bench-layer
  sync
fi
# A filled live image brings this: the kernel unpacked it with the rest of the RAM disk.
[ ! -e /config.ign ] || chroot /root /usr/local/bin/bench-guest lay < /config.ign
umount /proc /sys
exec switch_root /root /sbin/init
INIT
chmod 755 "$ird/init"
(cd "$ird" && find . | cpio --create --format=newc --quiet | gzip -1) > "$guest/initrd"
cp "$kernel"/boot/vmlinuz-* "$guest/vmlinuz"
umount "$work/tree"
