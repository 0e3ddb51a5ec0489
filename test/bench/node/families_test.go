package node_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"touchdown/test/bench/node"
	"touchdown/test/wait"
)

// sixAddress is the node's address of IPv6.
const sixAddress = "2001:db8:fac::10"

// families is the profile of an installation with fixed addresses of both families.
var families = strings.NewReplacer("method=auto\ndhcp-timeout=10", "method=manual\naddress1="+node.FactoryAddress+"/24,192.0.2.1\ndns=192.0.2.1\nmay-fail=false",
	"method=auto\naddr-gen-mode=eui64", "method=manual\naddress1="+sixAddress+"/64,2001:db8:fac::1\nmay-fail=false").Replace(node.InstalledProfile)

// bothFamilies gives the kubelet both addresses, as the units of a dual-stack cluster do.
const bothFamilies = `sed -i 's/--node-ip=${KUBELET_NODE_IP}/--node-ip=${KUBELET_NODE_IPS}/' /etc/systemd/system/kubelet.service && systemctl daemon-reload && systemctl restart kubelet && sync`

// TestBakeOfTwoFamilies bakes a node that was installed with fixed addresses of both families. Without a site it keeps both, and
// kubelet, its dependencies and the names stay with them.
func TestBakeOfTwoFamilies(t *testing.T) {
	m := inLAN(t, families)
	await(t, m, time.Minute, "grep -qxF 'Environment=\"KUBELET_NODE_IP="+node.FactoryAddress+"\" \"KUBELET_NODE_IPS="+node.FactoryAddress+","+sixAddress+"\"' /etc/systemd/system/kubelet.service.d/20-nodenet.conf")
	must(t, m, bothFamilies)
	addresses(t, m, node.FactoryAddress, sixAddress)
	if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	out, err := m.Bake(wait.Within(t, 5*time.Minute))
	t.Logf("bake, %.1f s:\n%s", time.Since(begun).Seconds(), out)
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, m, ". /etc/default/touchdown-address && echo $TOUCHDOWN_ADDRESSES"); got != node.FactoryAddress+" "+sixAddress {
		t.Errorf("the bake notes the addresses %s", got)
	}
	// The kernel has an IPv6 address once: with the network from the installation, so that neighbours of both families are on the link.
	const own = "systemctl is-active kubelet-dependencies.target && ip -o address show dev br-ex to " + node.FactoryAddress + "/32 | grep -qF " + node.FactoryAddress + "/32 && ip -o address show dev br-ex to " + sixAddress + "/128 | grep -qF " + sixAddress + "/64" +
		" && for a in 192.0.2.77 2001:db8:fac::77; do ip route get $a | grep -F 'dev br-ex' | grep -vqF via || exit 1; done"
	await(t, m, time.Minute, own)
	t.Logf("routes of the baked node:\n%s", must(t, m, "ip -6 route show dev br-ex; ip -6 address show dev br-ex scope global"))

	// A boot on the road: no cable, no server.
	if err := m.Unplug(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := m.Reboot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	await(t, m, time.Minute, own)
	addresses(t, m, node.FactoryAddress, sixAddress)
	if err := m.PodsReady(wait.Within(t, 90*time.Second)); err != nil {
		t.Error(err)
	}
}

// inLAN is the installed node with another profile of its uplink, booted in the factory's LAN with the program under test.
func inLAN(t *testing.T, profile string) *node.Machine {
	t.Helper()
	m := node.WithProfile(t, profile)
	serveFactory(t, m)
	return m
}

// addresses waits until the Node names these, in this order.
func addresses(t *testing.T, m *node.Machine, want ...string) {
	t.Helper()
	config, err := m.Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the Node's addresses", func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, n := range nodes.Items {
			for _, a := range n.Status.Addresses {
				if a.Type == corev1.NodeInternalIP {
					got = append(got, a.Address)
				}
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("they are %v", got)
		}
		return nil
	})
}
