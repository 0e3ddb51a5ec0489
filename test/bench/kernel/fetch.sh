#!/bin/bash
# fetch.sh LOCK TREE: unpacks Debian's kernel into TREE, without installing it, and without drivers that no guest here needs.
# The lock names package and version; a mirror that no longer has them gives the newest of the same release, and the
# difference is printed.
set -euo pipefail
wanted=$(< "$1") tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if ! apt-get -qq download "$wanted" 2>/dev/null; then
  apt-get -q update >/dev/null
  if ! apt-get -qq download "$wanted" 2>/dev/null; then
    newest=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -1)
    [ -n "$newest" ] || { echo "fetch: apt of this machine knows no kernel" >&2; exit 1; }
    apt-get -qq download "$newest"
    echo "fetch: THE KERNEL DIFFERS FROM kernel.lock: wanted $wanted, got $(ls ./*.deb)" >&2
  fi
fi
cd - >/dev/null
rm -rf "$tree.new"
dpkg-deb --extract "$work"/*.deb "$tree.new"
for unused in sound drivers/{gpu,media,staging,iio,infiniband,isdn,comedi,net/wireless,net/ethernet}; do
  rm -rf "$tree.new"/lib/modules/*/kernel/"$unused"
done
rm -rf "$tree"
mv -T "$tree.new" "$tree"
