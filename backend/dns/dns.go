// Package dns lets the node itself answer for the cluster's names, without any network.
package dns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	folder = rhcos.Dnsmasq
	// own sorts behind the installer's single-node.conf; dnsmasq reads every file of the folder, and names of two files add up.
	own     = folder + "/touchdown-site.conf"
	service = "dnsmasq.service"
	comment = "# The cluster's names at its site, beside those of the factory, for this node and its pods. Written by Touchdown.\n"
)

// Zone is what the node answers automatically: for each domain api, api-int and everything below apps.
type Zone struct {
	Domains   []string     // cluster name and base domain each
	Addresses []netip.Addr // the node's own, which no site's network touches
}

// Here tells whether this machine has its own name server at all.
func Here(m *host.Machine) bool { return m.Exists(folder) }

// Read returns the zone as the factory laid it, without what Add has added.
func Read(m *host.Machine) (Zone, error) {
	files, err := m.Glob(folder + "/*.conf")
	if err != nil {
		return Zone{}, err
	}
	var z Zone
	for _, f := range files {
		if f == own {
			continue
		}
		b, err := m.ReadFile(f)
		if err != nil {
			return Zone{}, err
		}
		z.read(string(b))
	}
	if len(z.Domains) == 0 || len(z.Addresses) == 0 {
		return Zone{}, &problem.Problem{
			Code:    "DNS-LACK",
			Summary: message.T("The node's own name server (dnsmasq) does not know the cluster's names."),
			Fix:     message.T("Run touchdown factory bake on this node before it is moved."),
			Err:     fmt.Errorf("no line address=/api.DOMAIN/ADDRESS in %s", folder),
		}
	}
	return z, nil
}

// read takes lines like address=/api.sno.example.com/192.168.127.10, which may name several domains.
func (z *Zone) read(conf string) {
	for line := range strings.Lines(conf) {
		rest, found := strings.CutPrefix(strings.TrimSpace(line), "address=/")
		parts := strings.Split(rest, "/")
		if !found || len(parts) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(parts[len(parts)-1])
		if err != nil {
			continue
		}
		for _, name := range parts[:len(parts)-1] {
			domain, isAPI := strings.CutPrefix(name, "api.")
			if !isAPI {
				continue
			}
			if !slices.Contains(z.Domains, domain) {
				z.Domains = append(z.Domains, domain)
			}
			if !slices.Contains(z.Addresses, addr) {
				z.Addresses = append(z.Addresses, addr)
			}
		}
	}
}

// Added returns the domain that Add has added, "" when none.
func Added(m *host.Machine) string {
	b, err := m.ReadFile(own)
	if err != nil {
		return ""
	}
	var z Zone
	z.read(string(b))
	if len(z.Domains) == 0 {
		return ""
	}
	return z.Domains[0]
}

// Add lets the node answer for domain too. The zone that is there stays: the cluster goes on using its old names inside.
func Add(ctx context.Context, m *host.Machine, z Zone, domain string) (changed bool, err error) {
	if host.Managed(m, own) {
		return false, &problem.Problem{
			Code:    "DNS-HELD",
			Summary: message.F("The cluster itself writes the file %s on this node.", own),
			Fix:     message.T("Remove the MachineConfig that does, or change the names in it."),
		}
	}
	names, err := z.encode(domain)
	if err != nil {
		return false, err
	}
	where, err := listen(m, z)
	if err != nil {
		return false, err
	}
	return write(ctx, m, []byte(comment+where+names))
}

// write puts content in the place of what the node answers beside its factory's names, and has its name server read it.
func write(ctx context.Context, m *host.Machine, content []byte) (changed bool, err error) {
	if now, err := m.ReadFile(own); err == nil && bytes.Equal(now, content) {
		return false, nil
	}
	return true, host.File{Path: own, Data: content, Perm: 0o644}.WriteFor(ctx, m, func(ctx context.Context) error { return Restart(ctx, m) })
}

// encode writes the answers for a domain as dnsmasq reads them. Slashes, line breaks and the like have their own meaning
// there, and no way to escape it, so that anything but a domain name is refused.
//
// From 2.86 on dnsmasq asks the site's servers for what an address does not answer: the other family, other records. A silent one would
// hold up each look for a name. "local" has it answer that there is nothing. It stands last: 2.85 (RHEL 9) reads from the end, and
// would say that there is no such name.
func (z Zone) encode(domain string) (string, error) {
	if wrong := validation.IsDNS1123Subdomain(domain); len(wrong) > 0 {
		return "", &problem.Problem{
			Code: "DNS-NAME", Summary: message.T("The new domain is not a domain name."),
			Fix: message.T("Correct spec.clusterName and spec.baseDomain."), Err: errors.New(wrong[0]),
		}
	}
	var out strings.Builder
	names := []string{"api.", "api-int.", "apps."}
	for _, name := range names {
		for _, a := range z.Addresses {
			fmt.Fprintf(&out, "address=/%s%s/%s\n", name, domain, a)
		}
	}
	for _, name := range names {
		fmt.Fprintf(&out, "local=/%s%s/\n", name, domain)
	}
	return out.String(), nil
}

// Own returns what Add has written; nil when nothing.
func Own(m *host.Machine) ([]byte, error) {
	b, err := m.ReadFile(own)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// PutBack makes the node answer again as when Own returned content.
func PutBack(ctx context.Context, m *host.Machine, content []byte) error {
	if len(content) == 0 {
		_, err := Remove(ctx, m)
		return err
	}
	_, err := write(ctx, m, content)
	return err
}

// Remove takes back what Add added.
func Remove(ctx context.Context, m *host.Machine) (changed bool, err error) {
	if !m.Exists(own) {
		return false, nil
	}
	if err := m.Remove(own); err != nil {
		return false, err
	}
	return true, Restart(ctx, m)
}

// Restart has the node's name server read its files again.
func Restart(ctx context.Context, m *host.Machine) error {
	if _, err := m.Run(ctx, "systemctl", "restart", service); err != nil {
		return &problem.Problem{
			Code: "DNS-STRT", Summary: message.T("The node's own name server (dnsmasq) does not start."),
			Fix: message.T("Look at its log in the support bundle; retry."), Err: err,
		}
	}
	return nil
}
