#!/bin/bash
# mknm.sh TREE: makes the NetworkManager of Debian 12, with the plugin for Open vSwitch that Debian leaves out of it, as a tree that
# lies above the bench node's packages. It is built from Debian's source package, with Debian's patches, in a tree of Debian 12 that
# is removed afterwards: nothing of it is installed on this machine. What needs libraries that the node lacks (modems, Wi-Fi, PPP)
# is left out.
set -euo pipefail
tree=$1

mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v -e security -e updates | grep '/debian/*$' | sort -u | head -1)
[ -n "$mirror" ] || { echo "mknm: apt of this machine knows no Debian mirror" >&2; exit 1; }

needs=meson,ninja-build,gcc,libc6-dev,pkg-config,gettext,patch,xz-utils,python3,perl,xsltproc,libxml2-utils
needs+=,libglib2.0-dev,libselinux1-dev,libaudit-dev,uuid-dev,libsystemd-dev,libudev-dev,libpsl-dev,libndp-dev,libreadline-dev
needs+=,libjansson-dev,libgnutls28-dev,libdbus-1-dev,libpolkit-gobject-1-dev,polkitd

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/build" <<'BUILD'
set -euo pipefail
cd /build
mkdir source
tar -xf network-manager_*.orig.tar.xz -C source --strip-components=1
tar -xf network-manager_*.debian.tar.xz -C source
cd source
while read -r patch; do patch -p1 --quiet < "debian/patches/$patch"; done < debian/patches/series
# Debian builds with the other build system of the two, which takes /run for an argument.
sed -i "s|join_paths(nm_localstatedir, 'run')|'/run'|" meson.build
# In Open vSwitch's datapath in user space, which the bench has in place of the kernel's, 1.42 looks for the hardware address of br-ex
# at another interface than the one it gave it to, and takes br-ex down.
sed -i '/^nm_device_update_hw_address/,/^}/ s/priv->ifindex/nm_device_get_ip_ifindex(self)/' src/core/devices/nm-device.c
meson setup out --prefix=/usr --sysconfdir=/etc --localstatedir=/var --buildtype=plain -Dc_args=-O2 \
  --libdir="lib/$(gcc -print-multiarch)" --libexecdir=lib/NetworkManager -Dsystemdsystemunitdir=/usr/lib/systemd/system -Dudev_dir=/usr/lib/udev \
  -Ddbus_conf_dir=/usr/share/dbus-1/system.d -Dovs=true -Dcrypto=gnutls -Dsession_tracking=systemd -Dsuspend_resume=systemd \
  -Dconfig_dhcp_default=internal -Ddhclient=no -Ddhcpcd=no -Ddhcpcanon=no -Dpolkit=true -Dselinux=true -Dlibaudit=yes -Dlibpsl=true \
  -Dnft=/usr/sbin/nft -Diptables=/usr/sbin/iptables -Ddnsmasq=/usr/sbin/dnsmasq \
  -Dmodem_manager=false -Dwifi=false -Dwext=false -Dppp=false -Dbluez5_dun=false -Dofono=false -Dteamdctl=false -Dconcheck=false \
  -Dnmtui=false -Dnm_cloud_setup=false -Difcfg_rh=false -Difupdown=false -Dintrospection=false -Dvapi=false -Ddocs=false \
  -Dqt=false -Dtests=no -Dfirewalld_zone=false -Dmodify_system=false -Dpolkit_agent_helper_1=/usr/lib/polkit-1/polkit-agent-helper-1
ninja -C out
DESTDIR=/tree meson install -C out --no-rebuild --quiet
find /tree -type f \( -perm /111 -o -name '*.so*' \) -exec strip --strip-unneeded {} + 2>/dev/null || :
rm -rf /tree/usr/include /tree/usr/lib/*/pkgconfig /tree/usr/share/locale /tree/usr/share/bash-completion /tree/var /tree/run
rm -f /tree/usr/lib/systemd/system/NetworkManager-wait-online-systemd-pre200.service # the packages have the one for a newer systemd
BUILD

mkdir -p "$work/got"
mmdebstrap --mode=root --variant=minbase --format=null --include="$needs" --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
  --customize-hook='mkdir "$1/build" && cd "$1/build" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get source --download-only network-manager' \
  --customize-hook="cp '$work/build' \"\$1/build/build\" && chroot \"\$1\" bash /build/build" \
  --customize-hook="cp -a \"\$1/tree/.\" '$work/got/' && ls \"\$1/build\" | sed -n 's/^network-manager_\(.*\)\.dsc\$/\1/p' > '$work/version'" \
  bookworm /dev/null "deb [check-valid-until=no trusted=yes] $mirror bookworm main" "deb-src [check-valid-until=no trusted=yes] $mirror bookworm main"

ls "$work"/got/usr/lib/*/NetworkManager/*/libnm-device-plugin-ovs.so >/dev/null
chown -hR 0:0 "$work/got"
chmod 755 "$work/got"
rm -rf "$tree" "$tree.new"
mkdir -p "$(dirname "$tree")"
cp -a "$work/got" "$tree.new"
mv "$work/version" "$tree.version"
mv "$tree.new" "$tree"
