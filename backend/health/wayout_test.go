package health

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"touchdown/backend/check"
	benchsite "touchdown/test/bench/site"
)

// TestPodsAreAskedForTheirWayOut has a node and two pods in network namespaces of the test's own. One pod has a sender that the node
// cannot answer, as with a wrong gateway address.
func TestPodsAreAskedForTheirWayOut(t *testing.T) {
	node, pods := benchsite.NamespaceFor(t), t.TempDir()
	server := netip.MustParseAddr("198.51.100.53")
	inside(t, node, "ip address add 198.51.100.53/32 dev lo")
	inside(t, node, "ip address add 2001:db8:51::53/128 dev lo nodad")
	var listening net.PacketConn
	if err := node.Do(func() (err error) {
		listening, err = net.ListenPacket("udp", ":53") // of both families
		return err
	}); err != nil {
		t.Fatal(err)
	}
	far := &dns.Server{PacketConn: listening, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		_ = w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeRefused))
	})}
	go func() { _ = far.ActivateAndServe() }()
	t.Cleanup(func() { _ = far.Shutdown() })

	servers := []netip.Addr{server}
	ask := func() (c check.Check) {
		t.Helper()
		s := &State{}
		if err := node.Do(func() error { s.WayOut = askFromPods(t.Context(), pods, servers); return nil }); err != nil {
			t.Fatal(err)
		}
		return judgeWayOut(s)
	}
	if c := ask(); c.Status != check.Skip || !strings.Contains(c.Observed.String(), "no pod") {
		t.Errorf("without pods: %+v", c)
	}
	if err := os.Symlink(node.Path(), filepath.Join(pods, "host")); err != nil { // a pod in the node's own network
		t.Fatal(err)
	}
	if c := ask(); c.Status != check.Skip || !strings.Contains(c.Observed.String(), "no pod") {
		t.Errorf("beside a pod in the node's own network: %+v", c)
	}
	if err := os.WriteFile(filepath.Join(pods, "ended"), nil, 0o600); err != nil { // a file that is not a namespace
		t.Fatal(err)
	}
	if c := ask(); c.Status != check.Skip || !strings.Contains(c.Observed.String(), "cannot be entered") {
		t.Errorf("beside a pod that has ended: %+v", c)
	}
	pod(t, node, pods, "lost", "10.128.0.9", "")
	if c := ask(); c.Status != check.Fail || !strings.Contains(c.Observed.String(), "none of 1 pods") || len(c.Evidence) != 1 {
		t.Errorf("no answer finds its way: %+v", c)
	}
	pod(t, node, pods, "well", "10.128.0.10", "ip route add 10.128.0.10 dev well")
	if c := ask(); c.Status != check.Pass {
		t.Errorf("one pod is answered: %+v", c)
	}
	both := []netip.Addr{netip.MustParseAddr("2001:db8:51::53"), server}
	servers = both[:1]
	if c := ask(); c.Status != check.Skip || !strings.Contains(c.Observed.String(), "no pod has an address") {
		t.Errorf("a name server of IPv6 for pods of IPv4: %+v", c)
	}
	servers = both
	if c := ask(); c.Status != check.Pass {
		t.Errorf("one of each family: %+v", c)
	}
	servers = both[1:]
	if err := far.Shutdown(); err != nil {
		t.Fatal(err)
	}
	if c := ask(); c.Status != check.Skip || !strings.Contains(c.Observed.String(), "the node either") {
		t.Errorf("the site's server is away: %+v", c)
	}
}

func inside(t *testing.T, n *benchsite.Namespace, script string) {
	t.Helper()
	if out, err := exec.Command("nsenter", "--net="+n.Path(), "sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// pod connects a namespace with the node: its packets have the given sender.
func pod(t *testing.T, node *benchsite.Namespace, folder, name, sender, route string) {
	t.Helper()
	n := benchsite.NamespaceFor(t)
	inside(t, node, "ip link add "+name+" type veth peer name eth0 netns "+n.Path()+" && ip link set "+name+" up && ip address add 10.128.0.1/32 dev "+name+"\n"+route)
	inside(t, n, "ip link set eth0 up && ip address add "+sender+"/32 dev eth0 && ip route add 10.128.0.1 dev eth0 && ip route add default via 10.128.0.1")
	if err := os.Symlink(n.Path(), filepath.Join(folder, name)); err != nil {
		t.Fatal(err)
	}
}
