package operators

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// bridge is what OVN-Kubernetes' gateway stands on.
const bridge = "br-ex"

// podNetwork is that of the bench's CNI configuration (rootfs/etc/cni/net.d).
const podNetwork = "10.128.0.0/23"

// runOVN plays the one part of ovnkube-node that a move can break: it takes the first address of br-ex for the pods'
// gateway, says so in the Node's annotations, and gives the pods' packets this sender. Like the model it looks again when an
// address comes or goes, not when their order alone is another, and every 30 seconds only at which there are
// (ovn-kubernetes 6c366bb49d6f, go-controller/pkg/node/gateway_init.go, node_ip_handler_linux.go).
func runOVN(ctx context.Context, e *Env) {
	if !e.RealNode {
		return
	}
	for ctx.Err() == nil {
		if err := e.watchAddresses(ctx); err != nil {
			e.Log.Info("the pods' gateway", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (e *Env) watchAddresses(ctx context.Context) error {
	monitor := exec.CommandContext(ctx, "ip", "-o", "-4", "monitor", "address")
	events, err := monitor.StdoutPipe()
	if err != nil {
		return fmt.Errorf("watching the addresses: %w", err)
	}
	if err := monitor.Start(); err != nil {
		return fmt.Errorf("watching the addresses: %w", err)
	}
	defer func() {
		_ = monitor.Process.Kill()
		_ = monitor.Wait()
	}()
	lines := bufio.NewScanner(events)
	for {
		if err := e.setGateway(ctx); err != nil {
			return err
		}
		for {
			if !lines.Scan() {
				return errors.Join(errors.New("the watch of the addresses ended"), lines.Err())
			}
			if strings.Contains(lines.Text(), " "+bridge+" ") {
				break
			}
		}
	}
}

// setGateway makes the first address of br-ex the pods' gateway.
func (e *Env) setGateway(ctx context.Context) error {
	all, err := addressesOf(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	first := all[0]
	rules := fmt.Sprintf(`table ip bench-ovn
delete table ip bench-ovn
table ip bench-ovn {
  chain post { type nat hook postrouting priority srcnat; ip saddr %s ip daddr != %s oifname %q snat to %s; }
}`, podNetwork, podNetwork, bridge, first.Addr())
	nft := exec.CommandContext(ctx, "nft", "-f", "-")
	nft.Stdin = strings.NewReader(rules)
	if out, err := nft.CombinedOutput(); err != nil {
		return fmt.Errorf("giving the pods the sender %s: %w: %s", first.Addr(), err, out)
	}
	hop := ""
	for range 20 { // the route comes after the address
		if hop, err = nextHop(ctx); err != nil || hop != "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.Join(err, e.annotateGateway(ctx, all, hop))
}

// addressesOf lists the IPv4 addresses of br-ex as the model does: no link-local ones, none that are secondary, deprecated or labelled
// by keepalived (go-controller/pkg/util/net_linux.go, GetFilteredInterfaceAddrs).
func addressesOf(ctx context.Context) ([]netip.Prefix, error) {
	out, err := exec.CommandContext(ctx, "ip", "-j", "-4", "address", "show", "dev", bridge).Output()
	if err != nil {
		return nil, fmt.Errorf("reading the addresses of %s: %w", bridge, err)
	}
	var links []struct {
		Addresses []struct {
			Local      string
			Bits       int `json:"prefixlen"`
			Label      string
			Secondary  bool
			Deprecated bool
		} `json:"addr_info"`
	}
	if err := json.Unmarshal(out, &links); err != nil {
		return nil, fmt.Errorf("reading the addresses of %s: %w", bridge, err)
	}
	var all []netip.Prefix
	for _, l := range links {
		for _, a := range l.Addresses {
			ip, err := netip.ParseAddr(a.Local)
			if err != nil || ip.IsLinkLocalUnicast() || a.Secondary || a.Deprecated || strings.HasSuffix(a.Label, "vip") {
				continue
			}
			all = append(all, netip.PrefixFrom(ip, a.Bits))
		}
	}
	return all, nil
}

// nextHop is the default route's, "" where there is none.
func nextHop(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "ip", "-j", "-4", "route", "show", "default", "dev", bridge).Output()
	if err != nil {
		return "", fmt.Errorf("reading the default route: %w", err)
	}
	var routes []struct{ Gateway string }
	if err := json.Unmarshal(out, &routes); err != nil || len(routes) == 0 {
		return "", nil //nolint:nilerr // no route prints no JSON
	}
	return routes[0].Gateway, nil
}

// annotateGateway writes what the model writes (go-controller/pkg/util/node_annotations.go).
func (e *Env) annotateGateway(ctx context.Context, all []netip.Prefix, hop string) error {
	hops := []string{}
	if hop != "" {
		hops = append(hops, hop)
	}
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("naming the node: %w", err)
	}
	text := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	patch := map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		"k8s.ovn.org/l3-gateway-config": text(map[string]any{"default": map[string]any{
			"mode": "shared", "interface-id": bridge + "_" + name, "ip-addresses": all[:1], "next-hops": hops, "node-port-enable": "true", "vlan-id": "0",
		}}),
		"k8s.ovn.org/node-primary-ifaddr": text(map[string]string{"ipv4": all[0].String()}),
		"k8s.ovn.org/host-cidrs":          text(all),
	}}}
	return e.retry(ctx, func() error {
		_, err := e.Kube.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(text(patch)), metav1.PatchOptions{})
		return err
	})
}
