#!/bin/bash
# mklayer.sh MACHINECONFIG ROOTFS CRDS LAYER PROGRAM...: lays what the Machine Config Operator renders, the files of the bench and
# its programs as they lie above the packages.
#
# LAYER becomes a link to a folder named by its contents: a machine that runs keeps the folder that it began with.
set -euo pipefail
machineconfig=$1 rootfs=$2 crds=$3 layer=$4
shift 4
new=$layer.new
rm -rf "$new"
mkdir -p "$new/usr/local/bin" "$new/var"
cp -R --no-dereference "$machineconfig/." "$new/"
cp -R --no-dereference "$rootfs/." "$new/"
chown -hR 0:0 "$new"
# git keeps no modes: what holds settings of the network is private, as NetworkManager demands.
chmod 755 "$new"
find "$new" -type d -exec chmod 755 {} +
find "$new/etc/NetworkManager/system-connections" -type f -exec chmod 600 {} +
mkdir -p "$new/usr/local/share/bench" && cp -R "$crds" "$new/usr/local/share/bench/crds"
for program in "$@"; do
  install -m 755 "$program" "$new/usr/local/bin/"
done
key=$(cd "$new" && { find . -printf '%P %m %l\n'; find . -type f -print0 | sort -z | xargs -0 sha256sum; } | sort | sha256sum | cut -c1-16)
if [ -d "$layer-$key" ]; then rm -rf "$new"; touch "$layer-$key"; else mv -T "$new" "$layer-$key"; fi
ln -sfn "$(basename "$layer-$key")" "$layer"
find "$(dirname "$layer")" -maxdepth 1 -name "$(basename "$layer")-*" ! -name "*-$key" -mmin +120 -exec rm -rf {} +
