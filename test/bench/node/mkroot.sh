#!/bin/bash
# mkroot.sh PACKAGES LOCK TREE: makes the tree of the bench node from Debian packages.
#
# NetworkManager's plugin for Open vSwitch is in no older release than forky. The mirror is the one that this machine's
# apt has. The lock says which version of each package is wanted; a mirror that no longer has it gives another, and every
# difference is printed.
set -euo pipefail
packages=$1 lock=$2 tree=$3

mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v -e security -e updates | grep '/debian/*$' | sort -u | head -1)
[ -n "$mirror" ] || { echo "mkroot: apt of this machine knows no Debian mirror" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed 's/\(.*\)=\(.*\)/Package: \1\nPin: version \2\nPin-Priority: 1001\n/' "$lock" > "$work/pins"

rm -rf "$tree.new"
mmdebstrap --mode=root --variant=minbase --format=directory \
  --include="$(paste -sd, "$packages")" \
  --aptopt='APT::Install-Recommends "false"' \
  --setup-hook="mkdir -p \"\$1/etc/apt/preferences.d\" && cp '$work/pins' \"\$1/etc/apt/preferences.d/lock\"" \
  --customize-hook='rm -f "$1/etc/resolv.conf" "$1/etc/hostname" "$1/etc/apt/preferences.d/lock" && : > "$1/etc/resolv.conf"' \
  forky "$tree.new" "deb [check-valid-until=no trusted=yes] $mirror forky main"

dpkg-query --admindir="$tree.new/var/lib/dpkg" -W -f '${Package}=${Version}\n' | sort > "$tree.new.packages"
if ! diff -U0 --label wanted --label got "$lock" "$tree.new.packages" | sed 's/^/warning: /'; then
  echo "warning: the node's packages differ from packages.lock (above); the bench may behave in another way"
fi
mv "$tree.new.packages" "$tree.packages"
rm -rf "$tree"
mv "$tree.new" "$tree"
