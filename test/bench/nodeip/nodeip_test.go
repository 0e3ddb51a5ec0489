// Package nodeip holds what Touchdown and the bench assume about node-ip, the program of nodeip-configuration.service, against
// OpenShift's own: cmd/runtimecfg of baremetal-runtimecfg, at the commit in operators/operators.lock. `make bench-operators` builds it.
package nodeip

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/test/wait"
)

// landed is the network of a node at its site: the site's addresses and the node's own, as touchdown-internal-address orders them.
const landed = `a 192.168.127.10/32; a 198.51.100.7/24 valid_lft 3600 preferred_lft 3600; bash $order
r default via 198.51.100.1 metric 48
`

// bothFamilies adds IPv6 to it; the order of the addresses makes the node's own a deprecated one.
const bothFamilies = `a 2001:db8:5::7/64; bash $order
r default via 2001:db8:5::1 metric 48
`

const single, dual = "192.168.127.10", "192.168.127.10 fd02::10"

// unchanged is what a node has where node-ip writes nothing: the choice at its installation.
const unchanged = `kubelet KUBELET_NODE_IP=192.0.2.10 KUBELET_NODE_IPS=192.0.2.10, CRI-O 192.0.2.10`

// places are what node-ip finds on a node, and what it makes of it.
var places = []struct {
	name, own, network, flags string
	want                      string // what kubelet and CRI-O are told, and the files below /run/nodeip-configuration
}{
	{
		"a landed node keeps its own address: touchdown-uplink has noted it down", single,
		landed + "bash $uplink begin", "--retry-on-failure", unchanged + "; primary-ip 192.168.127.10",
	},
	{
		"with both families too", dual,
		landed + bothFamilies + "bash $uplink begin", "--retry-on-failure", unchanged + "; primary-ip 192.168.127.10",
	},
	{
		"and with IPv6 first", "fd02::10 192.168.127.10",
		landed + bothFamilies + "bash $uplink begin", "--prefer-ipv6 --retry-on-failure", unchanged + "; primary-ip 192.168.127.10",
	},
	{
		"a node of IPv6 alone keeps its own address", "fd02::10",
		bothFamilies + "bash $uplink begin", "--retry-on-failure", unchanged + "; primary-ip fd02::10",
	},
	{
		"and does not wait without a network", "fd02::10",
		"a fd02::10/128; bash $uplink begin", "--retry-on-failure", unchanged + "; primary-ip fd02::10",
	},
	{
		"without a network it does not wait", single,
		"a 192.168.127.10/32; bash $uplink begin", "--retry-on-failure", unchanged + "; primary-ip 192.168.127.10",
	},
	{
		"without touchdown-uplink it takes the site's address, so 30-nodenet.conf has to win", single,
		landed, "--retry-on-failure", "kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7, CRI-O 198.51.100.7; ipv4 198.51.100.7; primary-ip 198.51.100.7",
	},
	{
		"of both families, and passes over the own one that is deprecated", dual,
		landed + bothFamilies, "--retry-on-failure",
		"kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7,2001:db8:5::7, CRI-O 198.51.100.7; ipv4 198.51.100.7; ipv6 2001:db8:5::7; primary-ip 198.51.100.7",
	},
	{
		"IPv6 before IPv4", dual,
		landed + bothFamilies, "--prefer-ipv6 --retry-on-failure",
		"kubelet KUBELET_NODE_IP=2001:db8:5::7 KUBELET_NODE_IPS=2001:db8:5::7,198.51.100.7, CRI-O 2001:db8:5::7; ipv4 198.51.100.7; ipv6 2001:db8:5::7; primary-ip 2001:db8:5::7",
	},
	{
		"a hint of the installation finds no network in the own address", single,
		landed, "--retry-on-failure 192.168.127.0", "kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7, CRI-O 198.51.100.7; ipv4 198.51.100.7; primary-ip 198.51.100.7",
	},
	{
		"a hint of the site's network", single,
		landed + "port eno2; ip address add 203.0.113.9/24 dev eno2", "--retry-on-failure 203.0.113.0",
		"kubelet KUBELET_NODE_IP=203.0.113.9 KUBELET_NODE_IPS=203.0.113.9, CRI-O 203.0.113.9; ipv4 203.0.113.9; primary-ip 203.0.113.9",
	},
	{
		"a hint and both families, IPv6 first", dual,
		landed + bothFamilies, "--prefer-ipv6 --retry-on-failure 198.51.100.0",
		"kubelet KUBELET_NODE_IP=2001:db8:5::7 KUBELET_NODE_IPS=2001:db8:5::7,198.51.100.7, CRI-O 2001:db8:5::7; ipv4 198.51.100.7; ipv6 2001:db8:5::7; primary-ip 2001:db8:5::7",
	},
	{
		"of several addresses the one that reaches the gateway", single,
		"a 10.0.0.9/24; a 203.0.113.9/24; a 198.51.100.7/24; r default via 198.51.100.1 metric 48", "--retry-on-failure",
		"kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7, CRI-O 198.51.100.7; ipv4 198.51.100.7; primary-ip 198.51.100.7",
	},
	{
		"else a public one, and of those the lowest", single,
		"a 10.0.0.9/24; a 203.0.113.9/24; a 203.0.113.3/24; r 198.51.100.1; r default via 198.51.100.1 metric 48", "--retry-on-failure",
		"kubelet KUBELET_NODE_IP=203.0.113.3 KUBELET_NODE_IPS=203.0.113.3, CRI-O 203.0.113.3; ipv4 203.0.113.3; primary-ip 203.0.113.3",
	},
	{
		"the route with the lower metric", single,
		landed + "port eno2; ip address add 203.0.113.9/24 dev eno2; ip route add default via 203.0.113.1 dev eno2 metric 20", "--retry-on-failure",
		"kubelet KUBELET_NODE_IP=203.0.113.9 KUBELET_NODE_IPS=203.0.113.9, CRI-O 203.0.113.9; ipv4 203.0.113.9; primary-ip 203.0.113.9",
	},
	{
		"OVN-Kubernetes' own IPv6 address is none", single,
		landed + "a fd69::2/112; r default via fd69::1 metric 48", "--retry-on-failure --network-type OVNKubernetes",
		"kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7, CRI-O 198.51.100.7; ipv4 198.51.100.7; primary-ip 198.51.100.7",
	},
	{
		"a file that holds no address is none", single,
		landed + "echo lost >/run/nodeip-configuration/primary-ip", "--retry-on-failure",
		"kubelet KUBELET_NODE_IP=198.51.100.7 KUBELET_NODE_IPS=198.51.100.7, CRI-O 198.51.100.7; ipv4 198.51.100.7; primary-ip 198.51.100.7",
	},
	{"without a default route there is nothing to choose", single, "a 192.168.127.10/32", "", "it fails; " + unchanged},
	{"nor without a network", single, "a 198.51.100.7/24", "", "it fails; " + unchanged},
	{"a hint that is not an address", single, landed, "198.51.100", "it fails; " + unchanged},
}

// node makes the place in new namespaces, as nodeip-configuration.service finds it, runs node-ip, and prints what came of it.
const node = `set -e
a() { case $1 in *:*) set -- "$@" nodad ;; esac; ip address add "$@" dev br-ex; }
r() { case $* in *:*) ip -6 route add "$@" dev br-ex ;; *) ip route add "$@" dev br-ex ;; esac; }
port() { ip link add $1 type veth peer name $1-cable; ip link set $1-cable up; ip link set $1 up; }
units=/etc/systemd/system
mount -t tmpfs tmpfs /run
mkdir -p $units /run/nodeip-configuration
mount -t tmpfs tmpfs $units
mkdir $units/kubelet.service.d $units/crio.service.d
printf '[Service]\nEnvironment="KUBELET_NODE_IP=192.0.2.10" "KUBELET_NODE_IPS=192.0.2.10"\n' >$units/kubelet.service.d/20-nodenet.conf
printf '[Service]\nEnvironment="CONTAINER_STREAM_ADDRESS=192.0.2.10"\n' >$units/crio.service.d/20-nodenet.conf
ip link set lo up
port br-ex
{ eval "$place"; } >&2
"$program" node-ip set $flags >&2 || printf 'it fails; '
printf 'kubelet %s, ' "$(sed -n 's/^Environment=//p' $units/kubelet.service.d/20-nodenet.conf)"
printf 'CRI-O %s' "$(sed -n 's/^Environment="CONTAINER_STREAM_ADDRESS=\(.*\)"$/\1/p' $units/crio.service.d/20-nodenet.conf)"
for file in /run/nodeip-configuration/*; do [ ! -e $file ] || printf '; %s %s' "${file##*/}" "$(cat $file)"; done`

// TestTheStandIn: the bench's podman, which plays node-ip on a booted node, chooses and writes what OpenShift's program does.
func TestTheStandIn(t *testing.T) {
	wait.Slow(t)
	program, err := filepath.Abs("../../../.cache/bench/node/bin/podman")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		wait.Unable(t, "%v: run make bench-node", err)
	}
	everywhere(t, program)
}

// TestNodeIP: OpenShift's program leaves the address alone that Touchdown notes down for it, and takes the site's where nothing is noted.
func TestNodeIP(t *testing.T) {
	wait.Slow(t)
	programs, err := filepath.Glob("../../../.cache/bench/bin/operator-node-ip-" + commit(t))
	if err != nil || len(programs) != 1 {
		wait.Unable(t, "node-ip is not built: run make bench-operators (%v)", err)
	}
	program, err := filepath.Abs(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	everywhere(t, program)
}

// commit is the one of operators.lock, as far as the program's name has it.
func commit(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile("../operators/operators.lock")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lock)) {
		if field := strings.Fields(line); len(field) > 2 && field[0] == "node-ip" {
			return field[2][:12]
		}
	}
	t.Fatal("operators.lock has no node-ip")
	return ""
}

func everywhere(t *testing.T, program string) {
	if out, err := exec.Command("unshare", "--net", "--mount", "ip", "link").CombinedOutput(); err != nil {
		wait.Unable(t, "namespaces need root: %v: %s", err, out)
	}
	for _, p := range places {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			own, err := host.NewOwn(strings.Fields(p.own))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", node)
			cmd.Env = append(laid(t, own), "program="+program, "place="+p.network, "flags="+p.flags)
			var out, told bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &told
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v: %s%s", err, out.String(), told.String())
			}
			if got := strings.ReplaceAll(out.String(), `"`, ""); got != p.want {
				t.Errorf("%s\nwant %s\n%s", got, p.want, told.String())
			}
		})
	}
}

// laid lays the product's two scripts and the file of own addresses into a folder, and returns the environment in which they run.
// There is an nmcli there that knows no profile: the machine's would change the network of the machine.
func laid(t *testing.T, own host.Own) []string {
	t.Helper()
	dir := t.TempDir()
	lay := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lay("own", own.File())
	lay("nmcli", []byte("#!/bin/sh\nexit 10\n"))
	for _, name := range []string{"touchdown-uplink", "touchdown-internal-address"} {
		text, err := os.ReadFile(filepath.Join("../../../iso-overlay/usr/local/bin", name))
		if err != nil {
			t.Fatal(err)
		}
		lay(name, bytes.ReplaceAll(text, []byte(host.OwnFile), []byte(filepath.Join(dir, "own"))))
	}
	return append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"),
		"uplink="+filepath.Join(dir, "touchdown-uplink"), "order="+filepath.Join(dir, "touchdown-internal-address"))
}
