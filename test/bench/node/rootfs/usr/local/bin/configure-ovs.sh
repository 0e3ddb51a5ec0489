#!/bin/bash
# Stand-in for the script of the Machine Config Operator that moves the node's uplink under the bridge br-ex.
#
# Like that one it starts from nothing at every boot: what it made before is taken back, then br-ex is built from the
# profile of the physical interface. Its profiles are volatile; only the profile of the physical interface persists.
# Unlike that one it makes the bridge with the userspace datapath where the kernel has none (the build machine's), and it
# tries again after seconds, not after 15 minutes.
set -u -o pipefail

profiles=/run/NetworkManager/system-connections
boot_done=/run/configure-ovs-boot-done
hint=/var/lib/ovnk/iface_default_hint
metric=48
datapath=datapath-type=netdev
modprobe --quiet openvswitch 2>/dev/null && datapath=
retry=${CONFIGURE_OVS_RETRY:-5}
route_wait=${CONFIGURE_OVS_ROUTE_WAIT:-60}
ours=(ovs-if-br-ex ovs-port-br-ex ovs-if-phys0 ovs-port-phys0 br-ex)

log() { echo "configure-ovs: $*"; }

# take_back removes br-ex and lets NetworkManager activate the physical interface's own profile again.
take_back() {
  local name found=
  for name in "${ours[@]}"; do
    if nmcli -g connection.id connection show "$name" >/dev/null 2>&1; then
      nmcli connection delete "$name" >/dev/null && found=yes
    fi
  done
  for name in "$profiles"/*-slave-ovs-clone.nmconnection; do
    [ -e "$name" ] && rm -f "$name"
  done
  ovs-vsctl --timeout=30 --if-exists del-br br-ex
  nmcli connection reload
  [ -n "$found" ] && log "took back the bridge of before"
  return 0
}

default_route_interface() { ip -o route show default | sort -t ' ' -k 9 | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -1; }
default_route6_interface() { ip -o -6 route show default | sed -n 's/.* dev \([^ ]*\).*/\1/p' | head -1; }
interface_of_address() { ip -o address show | awk -v want="$1" '{ split($4, a, "/"); if (a[1] == want) { print $2; exit } }'; }

# physical_interface prints the interface that br-ex is built on, by the order of the real script.
physical_interface() {
  local found address end
  if [ -f /etc/ovnk/default_bridge ]; then
    found=$(< /etc/ovnk/default_bridge)
    [ -n "$found" ] || log "/etc/ovnk/default_bridge is empty" >&2
    echo "$found"
    return
  fi
  if [ -s /run/nodeip-configuration/primary-ip ]; then
    address=$(< /run/nodeip-configuration/primary-ip)
    found=$(interface_of_address "$address")
    if [ -n "$found" ] && [ "$found" != br-ex ]; then echo "$found"; return; fi
    log "no interface has the node's address $address" >&2
  fi
  end=$((SECONDS + route_wait))
  while :; do
    found=$(default_route_interface)
    [ -n "$found" ] || found=$(default_route6_interface)
    if [ -n "$found" ] && [ "$found" != br-ex ]; then echo "$found"; return; fi
    [ $SECONDS -ge $end ] && break
    sleep 1
  done
  log "no default route within $route_wait seconds" >&2
  [ -s "$hint" ] && cat "$hint"
}

# section prints a section of a keyfile without its heading.
section() { awk -v want="[$2]" '/^\[/ { inside = ($0 == want); next } inside && NF' "$1"; }

new_profile() { # id, type, interface, lines of [connection]...
  local id=$1 type=$2 interface=$3
  shift 3
  printf '[connection]\nid=%s\nuuid=%s\ntype=%s\ninterface-name=%s\nautoconnect=false\nautoconnect-priority=100\n' "$id" "$(< /proc/sys/kernel/random/uuid)" "$type" "$interface"
  [ $# -gt 0 ] && printf '%s\n' "$@"
  echo
}

save() { local file="$profiles/$1.nmconnection"; cat > "$file" && chmod 600 "$file"; }

# activate tries several times, as the real script does: the first attempt hangs in some boots.
activate() {
  local attempt
  for attempt in 1 2 3; do
    nmcli --wait 15 connection up "$1" && return
    log "activating $1 did not work, attempt $attempt"
  done
  return 1
}

# build makes br-ex from the profile that is active on an interface.
build() {
  local interface=$1 old file type address mtu bridge_uuid port_uuid phys_uuid part
  old=$(nmcli -g GENERAL.CON-UUID device show "$interface" 2>/dev/null)
  if [ -z "$old" ]; then log "no profile is active on $interface"; return 1; fi
  file=$(nmcli -t -f UUID,FILENAME connection show | sed -n "s/^$old://p" | sed 's/\\:/:/g')
  if [ ! -r "$file" ]; then log "the profile of $interface has no file"; return 1; fi
  type=$(section "$file" connection | sed -n 's/^type=//p')
  address=$(cat "/sys/class/net/$interface/address")
  mtu=$(section "$file" ethernet | grep '^mtu=')
  mkdir -p "$profiles"

  { new_profile br-ex ovs-bridge br-ex
    printf '[ovs-bridge]\n%s\n\n[ethernet]\n%s\n' "$datapath" "$mtu"; } | save br-ex
  bridge_uuid=$(section "$profiles/br-ex.nmconnection" connection | sed -n 's/^uuid=//p')
  for part in phys0 br-ex; do
    local port=$part
    [ "$part" = phys0 ] && port=$interface
    { new_profile "ovs-port-$part" ovs-port "$port" "controller=$bridge_uuid" port-type=ovs-bridge
      printf '[ovs-port]\n'; } | save "ovs-port-$part"
  done

  port_uuid=$(section "$profiles/ovs-port-phys0.nmconnection" connection | sed -n 's/^uuid=//p')
  { new_profile ovs-if-phys0 "$type" "$interface" "controller=$port_uuid" port-type=ovs-port
    for part in ethernet vlan bond; do
      if [ "$part" = "$type" ] || [ "$part" = ethernet ]; then printf '[%s]\n%s\n\n' "$part" "$(section "$file" "$part")"; fi
    done; } | save ovs-if-phys0
  phys_uuid=$(section "$profiles/ovs-if-phys0.nmconnection" connection | sed -n 's/^uuid=//p')
  [ "$type" = bond ] && clone_bond_ports "$old" "$phys_uuid"

  # The addresses, routes and name servers move to the bridge's own interface, and so does the hardware address: the lease stays.
  port_uuid=$(section "$profiles/ovs-port-br-ex.nmconnection" connection | sed -n 's/^uuid=//p')
  { new_profile ovs-if-br-ex ovs-interface br-ex "controller=$port_uuid" port-type=ovs-port
    printf '[ethernet]\ncloned-mac-address=%s\n%s\n\n[ovs-interface]\ntype=internal\n' "$address" "$mtu"
    for part in ipv4 ipv6; do
      printf '\n[%s]\n%s\n' "$part" "$(section "$file" "$part" | grep -v '^route-metric=')"
      section "$file" "$part" | grep -qx method=disabled || echo "route-metric=$metric"
    done; } | save ovs-if-br-ex

  for part in br-ex ovs-port-phys0 ovs-port-br-ex ovs-if-phys0 ovs-if-br-ex; do
    nmcli connection load "$profiles/$part.nmconnection" || return 1
  done
  # None of them comes up by itself before all are there: NetworkManager would activate the others again and again. A
  # bridge or port without interface stays "activating", so only the interfaces are waited for.
  for part in br-ex ovs-port-phys0 ovs-port-br-ex; do
    nmcli --wait 0 connection up "$part" || { log "activating $part did not work"; return 1; }
  done
  for part in ovs-if-phys0 ovs-if-br-ex; do
    activate "$part" || { log "activating $part did not work"; return 1; }
  done
  for part in br-ex ovs-port-phys0 ovs-port-br-ex ovs-if-phys0 ovs-if-br-ex; do
    nmcli connection modify --temporary "$part" connection.autoconnect yes connection.autoconnect-ports 1 || return 1
  done
  mkdir -p "$(dirname "$hint")" && echo "$interface" > "$hint"
  log "br-ex is up on $interface"
}

# clone_bond_ports gives the new profile of a bond its ports.
clone_bond_ports() {
  local file id
  for file in /etc/NetworkManager/system-connections/*.nmconnection; do
    section "$file" connection | grep -qE "^(controller|master)=$1$" || continue
    id=$(section "$file" connection | sed -n 's/^id=//p')
    sed -e "s/^\(controller\|master\)=.*/\1=$2/" -e "s/^id=.*/id=$id-slave-ovs-clone/" -e "s/^uuid=.*/uuid=$(< /proc/sys/kernel/random/uuid)/" \
      -e 's/^\[connection\]$/&\nautoconnect-priority=100/' "$file" | save "$id-slave-ovs-clone"
    nmcli connection load "$profiles/$id-slave-ovs-clone.nmconnection"
  done
}

if [ "${1:-}" != OVNKubernetes ]; then
  log "the network type is not OVNKubernetes: nothing to do"
  exit 0
fi
if [ ! -f "$boot_done" ]; then
  log "running on boot, starting from nothing"
  take_back
  touch "$boot_done"
elif ip link show br-ex >/dev/null 2>&1 && nmcli -g GENERAL.STATE connection show ovs-if-br-ex 2>/dev/null | grep -q activated; then
  log "br-ex is there already"
  exit 0
fi
while :; do
  interface=$(physical_interface)
  if [ -n "$interface" ] && build "$interface"; then
    exit 0
  fi
  log "no br-ex yet, trying again in $retry seconds (on a real node: 15 minutes)"
  take_back
  sleep "$retry"
done
