package factory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
)

// Verify looks whether the bake has taken effect on the machine: what a unit really got, not what a file says.
func Verify(ctx context.Context, m *host.Machine, wanted []Manifest, cluster Cluster) []check.Check {
	checks := []check.Check{
		addresses(ctx, m, cluster.Own),
		environment(ctx, m, "kubelet.service"),
		environment(ctx, m, "crio.service"),
		gate(ctx, m),
		uplink(ctx, m, cluster.Own),
		files(m, wanted),
		units(ctx, m, wanted),
	}
	return append(checks, names(ctx, cluster, "53"))
}

const again = "Wait until the node has rebooted into its new configuration, then run the same command again."

func result(id string, title message.Text, ok bool, observed, expected message.Text) check.Check {
	c := check.Check{ID: id, Title: title, Status: check.Pass, Observed: observed, Expected: expected}
	if !ok {
		c.Status, c.Fix = check.Fail, message.T(again)
	} else if observed.String() == "" { // nothing is wrong
		c.Observed = expected
	}
	return c
}

func addresses(ctx context.Context, m *host.Machine, own host.Own) check.Check {
	const id, title = "bake-address", "The node's own addresses on br-ex"
	want := own.String()
	out, err := m.Run(ctx, "ip", "-j", "address", "show", "dev", "br-ex")
	if err != nil {
		return result(id, message.T(title), false, message.Detail(err), message.Data(want))
	}
	var links []struct {
		Addresses []struct {
			Local string `json:"local"`
			Bits  int    `json:"prefixlen"`
			Scope string `json:"scope"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal([]byte(out), &links); err != nil {
		return result(id, message.T(title), false, message.Detail(err), message.Data(want))
	}
	var all []string
	missing := slices.Clone(own)
	for _, l := range links {
		for _, a := range l.Addresses {
			if a.Scope == "global" {
				all = append(all, fmt.Sprintf("%s/%d", a.Local, a.Bits))
			}
			if local, err := netip.ParseAddr(a.Local); err == nil {
				missing = slices.DeleteFunc(missing, func(o netip.Addr) bool { return host.Own{o}.Holds(netip.PrefixFrom(local, a.Bits)) })
			}
		}
	}
	return result(id, message.T(title), len(missing) == 0, message.Data(strings.Join(all, ", ")), message.Data(want))
}

// environment looks whether a unit gets the node's own addresses: of several files the last one holds, and each of them before
// an Environment= of a drop-in.
func environment(ctx context.Context, m *host.Machine, unit string) check.Check {
	out, err := m.Run(ctx, "systemctl", "show", unit, "--property=EnvironmentFiles", "--value")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	observed := message.Data(strings.Join(lines, ", "))
	if err != nil {
		observed = message.Detail(err)
	}
	name := strings.TrimSuffix(unit, ".service")
	ok := err == nil && strings.HasPrefix(lines[len(lines)-1], host.OwnFile+" ")
	return result("bake-env-"+name, message.F("Address that %s uses", name), ok, observed, message.F("%s last", host.OwnFile))
}

func gate(ctx context.Context, m *host.Machine) check.Check {
	out, err := m.Run(ctx, "systemctl", "show", "kubelet.service", "--property=DropInPaths", "--value")
	observed := message.Data(strings.TrimSpace(out))
	if err != nil {
		observed = message.Detail(err)
	}
	const want = rhcos.Units + "/kubelet.service.d/05-touchdown.conf"
	return result("bake-gate", message.T("Gate in front of kubelet"), err == nil && slices.Contains(strings.Fields(out), want), observed, message.Data(want))
}

func uplink(ctx context.Context, m *host.Machine, own host.Own) check.Check {
	const id, title = "bake-uplink", "Profile of the uplink"
	u, err := FindUplink(ctx, m, own)
	if err != nil {
		return result(id, message.T(title), false, message.Detail(err), message.Data(own.String()))
	}
	c := result(id, message.T(title), u.Ready(), message.F("%s %s", u.Device, u.File), message.F("carries %s and waits for no lease", own.String()))
	if !u.Ready() {
		c.Fix = message.T("Run `touchdown factory bake` again.")
	}
	return c
}

func files(m *host.Machine, wanted []Manifest) check.Check {
	var wrong []string
	count := 0
	for _, manifest := range wanted {
		for _, f := range manifest.Files {
			count++
			if got, err := m.ReadFile(f.Path); err != nil || !bytes.Equal(got, f.Data) {
				wrong = append(wrong, f.Path)
			}
		}
	}
	c := result("bake-files", message.T("Baked files"), len(wrong) == 0, message.F("%d of %d as baked", count-len(wrong), count), message.T("all as baked"))
	c.Evidence = message.Lines(wrong)
	return c
}

func units(ctx context.Context, m *host.Machine, wanted []Manifest) check.Check {
	var wrong []string
	for _, manifest := range wanted {
		for _, u := range manifest.Units {
			out, err := m.Run(ctx, "systemctl", "is-enabled", u)
			if state := strings.TrimSpace(out); err != nil || state != "enabled" {
				wrong = append(wrong, u+": "+state)
			}
		}
	}
	return result("bake-units", message.T("Touchdown's units"), len(wrong) == 0, message.Data(strings.Join(wrong, ", ")), message.T("enabled"))
}

// namesTime is for three answers of the node's own name server. A busy one answers late; one that does not run refuses at once.
const namesTime = time.Minute

// names asks the node's own name server, over its own address, as pods and kubelet do. It asks for addresses of that one's family alone:
// another one the server does not know itself, and a name server of an earlier site may be silent.
func names(ctx context.Context, cluster Cluster, port string) check.Check {
	domain, own, family := cluster.Domain, cluster.Own[0].String(), "ip4"
	if cluster.Own[0].Is6() {
		family = "ip6"
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(own, port))
	}}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	var wrong []message.Text
	for _, name := range []string{"api." + domain, "api-int." + domain, "any.apps." + domain} {
		got, err := resolver.LookupNetIP(ctx, family, name+".")
		if err != nil {
			wrong = append(wrong, message.Detail(err))
		} else if len(got) != 1 || got[0].Unmap() != cluster.Own[0] {
			wrong = append(wrong, message.F("%s is %s", name, got))
		}
	}
	return result("bake-names", message.T("Names that the node answers itself"), len(wrong) == 0, message.Join(wrong, "; "),
		message.F("api, api-int and *.apps of %s are %s", domain, own))
}

// sums are the fingerprints of what was baked, by path.
func sums(m *host.Machine, wanted []Manifest) map[string]string {
	out := map[string]string{}
	for _, manifest := range wanted {
		for _, f := range manifest.Files {
			if data, err := m.ReadFile(f.Path); err == nil {
				sum := sha256.Sum256(data)
				out[f.Path] = hex.EncodeToString(sum[:])
			}
		}
	}
	return out
}
