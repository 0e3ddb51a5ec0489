package factory

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
)

// Verify looks whether the bake has taken effect on the machine: what a unit really got, not what a file says.
func Verify(ctx context.Context, m *host.Machine, wanted []Manifest, domain string) []check.Check {
	checks := []check.Check{
		address(ctx, m),
		environment(ctx, m, "kubelet.service", nodenet),
		environment(ctx, m, "crio.service", streaming),
		gate(ctx, m),
		uplink(ctx, m),
		files(m, wanted),
		units(ctx, m, wanted),
	}
	return append(checks, names(ctx, domain))
}

const again = "Wait until the node has rebooted into its new configuration, then run the same command again."

func result(id, title string, ok bool, observed, expected string) check.Check {
	c := check.Check{ID: id, Title: title, Status: check.Pass, Observed: observed, Expected: expected}
	if !ok {
		c.Status, c.Fix = check.Fail, again
	}
	return c
}

func address(ctx context.Context, m *host.Machine) check.Check {
	const id, title = "bake-address", "Internal address on br-ex"
	out, err := m.Run(ctx, "ip", "-j", "-4", "address", "show", "dev", "br-ex")
	if err != nil {
		return result(id, title, false, err.Error(), internalPrefix)
	}
	var links []struct {
		Addresses []struct {
			Local string `json:"local"`
		} `json:"addr_info"`
	}
	if err := json.Unmarshal([]byte(out), &links); err != nil {
		return result(id, title, false, err.Error(), internalPrefix)
	}
	var all []string
	for _, l := range links {
		for _, a := range l.Addresses {
			all = append(all, a.Local)
		}
	}
	return result(id, title, slices.Contains(all, InternalAddress), strings.Join(all, ", "), InternalAddress)
}

func environment(ctx context.Context, m *host.Machine, unit, want string) check.Check {
	out, err := m.Run(ctx, "systemctl", "show", unit, "--property=Environment", "--value")
	if err != nil {
		out = err.Error()
	}
	name := strings.TrimSuffix(unit, ".service")
	var got []string
	key, _, _ := strings.Cut(want, "=")
	for _, v := range strings.Fields(out) {
		if strings.HasPrefix(v, key+"=") {
			got = append(got, v)
		}
	}
	// Of several assignments the last one holds.
	ok := len(got) > 0 && got[len(got)-1] == want
	return result("bake-env-"+name, "Address that "+name+" uses", ok, strings.Join(got, " "), want)
}

func gate(ctx context.Context, m *host.Machine) check.Check {
	out, err := m.Run(ctx, "systemctl", "show", "kubelet.service", "--property=DropInPaths", "--value")
	if err != nil {
		out = err.Error()
	}
	const want = "/etc/systemd/system/kubelet.service.d/05-touchdown.conf"
	return result("bake-gate", "Gate in front of kubelet", slices.Contains(strings.Fields(out), want), strings.TrimSpace(out), want)
}

func uplink(ctx context.Context, m *host.Machine) check.Check {
	const id, title = "bake-uplink", "Profile of the uplink"
	u, err := FindUplink(ctx, m)
	if err != nil {
		return result(id, title, false, err.Error(), internalPrefix)
	}
	c := result(id, title, u.Ready(), u.Device+" "+u.File, "carries "+internalPrefix+" and waits for no lease")
	if !u.Ready() {
		c.Fix = "Run `touchdown factory bake` again."
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
	c := result("bake-files", "Baked files", len(wrong) == 0, fmt.Sprintf("%d of %d as baked", count-len(wrong), count), "all as baked")
	c.Evidence = wrong
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
	return result("bake-units", "Touchdown's units", len(wrong) == 0, strings.Join(wrong, ", "), "enabled")
}

// names asks the node's own name server, over its own address, as pods and kubelet do.
func names(ctx context.Context, domain string) check.Check {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, network, net.JoinHostPort(InternalAddress, "53"))
	}}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var wrong []string
	for _, name := range []string{"api." + domain, "api-int." + domain, "any.apps." + domain} {
		got, err := resolver.LookupHost(ctx, name+".")
		if err != nil {
			wrong = append(wrong, err.Error())
		} else if !slices.Equal(got, []string{InternalAddress}) {
			wrong = append(wrong, name+" is "+strings.Join(got, ", "))
		}
	}
	return result("bake-names", "Names that the node answers itself", len(wrong) == 0, strings.Join(wrong, "; "),
		"api, api-int and *.apps of "+domain+" are "+InternalAddress)
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
