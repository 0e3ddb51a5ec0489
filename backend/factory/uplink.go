package factory

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// profiles is where NetworkManager keeps what survives a reboot. br-ex is rebuilt from there at every boot.
const profiles = rhcos.Profiles

// forever is NetworkManager's word for no timeout: a lease that comes late is still taken.
const forever = "2147483647"

// automatic is its word for addresses from the network: DHCP for IPv4, a router's announcements for IPv6.
const automatic = "auto"

// Uplink is the port under br-ex and its profile.
type Uplink struct {
	Device string
	UUID   string // "" while it has no profile
	File   string
	change []string // what `nmcli connection modify` still has to set
}

// FindUplink looks how the profile that br-ex is built from differs from what a node on the road needs: its own
// addresses, and no waiting for a lease that may never come.
func FindUplink(ctx context.Context, m *host.Machine, own host.Own) (Uplink, error) {
	device, err := m.Run(ctx, "nmcli", "-g", "connection.interface-name", "connection", "show", "ovs-if-phys0")
	if err != nil {
		return Uplink{}, &problem.Problem{
			Code: "FAC-BREX", Summary: message.T("The port under the bridge br-ex was not found."),
			Fix: message.T("Wait until the node's network is up (ovs-configuration.service), then run the same command again."), Err: err,
		}
	}
	u := Uplink{Device: strings.TrimSpace(device)}
	list, err := m.Run(ctx, "nmcli", "-t", "-f", "UUID,FILENAME", "connection", "show")
	if err != nil {
		return u, fmt.Errorf("listing the network's profiles: %w", err)
	}
	for line := range strings.Lines(list) {
		uuid, file, _ := strings.Cut(strings.TrimSpace(line), ":")
		if path.Dir(file) != profiles {
			continue
		}
		of, err := m.Run(ctx, "nmcli", "-g", "connection.interface-name", "connection", "show", "uuid", uuid)
		if err != nil {
			return u, fmt.Errorf("reading a network profile: %w", err)
		}
		if strings.TrimSpace(of) == u.Device {
			u.UUID, u.File = uuid, file
		}
	}
	return u, u.compare(ctx, m, own)
}

// profile are the settings of a profile that decide whether br-ex comes up without a site.
type profile struct {
	method4, addresses4, mayFail4, lease4         string
	method6, addresses6, mayFail6, lease6, router string
}

// fields are nmcli's names for them, in their order.
const fields = "ipv4.method,ipv4.addresses,ipv4.may-fail,ipv4.dhcp-timeout,ipv6.method,ipv6.addresses,ipv6.may-fail,ipv6.dhcp-timeout,ipv6.ra-timeout"

// profile reads them; a profile that is only made yet has NetworkManager's defaults.
func (u *Uplink) profile(ctx context.Context, m *host.Machine) (profile, error) {
	p := profile{method4: automatic, mayFail4: "yes", lease4: "0", method6: automatic, mayFail6: "yes", lease6: "0", router: "0"}
	if u.UUID == "" {
		return p, nil
	}
	out, err := m.Run(ctx, "nmcli", "-g", fields, "connection", "show", "uuid", u.UUID)
	if err != nil {
		return p, fmt.Errorf("reading the profile of %s: %w", u.Device, err)
	}
	into := []*string{&p.method4, &p.addresses4, &p.mayFail4, &p.lease4, &p.method6, &p.addresses6, &p.mayFail6, &p.lease6, &p.router}
	settings := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(settings) != len(into) {
		return p, fmt.Errorf("reading the profile of %s: %d values instead of %d", u.Device, len(settings), len(into))
	}
	for i, value := range settings {
		*into[i] = strings.ReplaceAll(value, "\\:", ":") // nmcli escapes its separator
	}
	return p, nil
}

func (u *Uplink) compare(ctx context.Context, m *host.Machine, own host.Own) error {
	p, err := u.profile(ctx, m)
	if err != nil {
		return err
	}
	for _, a := range own {
		family, method, has := "ipv4", &p.method4, p.addresses4
		if a.Is6() {
			family, method, has = "ipv6", &p.method6, p.addresses6
		}
		if *method == "disabled" || *method == "ignore" || *method == "link-local" {
			*method = "manual"
			u.change = append(u.change, family+".method", *method)
		}
		if !held(a, has) {
			u.change = append(u.change, "+"+family+".addresses", netip.PrefixFrom(a, a.BitLen()).String())
		}
	}
	if p.method4 == automatic {
		u.want("ipv4.may-fail", p.mayFail4, "yes")
		u.want("ipv4.dhcp-timeout", p.lease4, forever)
	}
	if !own.Four() {
		u.waitForRouter(p)
		return nil
	}
	// While IPv6 waits for a router too, a port without any server stays "connecting" and configure-ovs gives up on it.
	if p.method4 == automatic && p.method6 == automatic {
		global, err := m.Run(ctx, "ip", "-6", "-o", "address", "show", "dev", "br-ex", "scope", "global")
		if err != nil {
			return fmt.Errorf("reading the addresses of br-ex: %w", err)
		}
		if strings.TrimSpace(global) == "" {
			u.change = append(u.change, "ipv6.method", "link-local")
		}
	}
	return nil
}

// waitForRouter lets a node of IPv6 alone take what a router or a DHCP server gives however late it comes, and not lose its address when
// none does. Until then touchdown-uplink has br-ex built with the own address alone.
func (u *Uplink) waitForRouter(p profile) {
	if p.method6 != automatic && p.method6 != "dhcp" {
		return
	}
	u.want("ipv6.may-fail", p.mayFail6, "yes")
	u.want("ipv6.dhcp-timeout", p.lease6, forever)
	u.want("ipv6.ra-timeout", p.router, forever)
}

// want notes a setting that the profile has otherwise.
func (u *Uplink) want(setting, has, value string) {
	if has != value {
		u.change = append(u.change, setting, value)
	}
}

// held tells whether one of a profile's addresses keeps this own one on br-ex. An IPv6 address from the installation does, with its
// network: neighbours stay on the link.
func held(a netip.Addr, entries string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(entries, func(r rune) bool { return r == ',' || r == ' ' }), func(text string) bool {
		p, err := netip.ParsePrefix(text)
		return err == nil && host.Own{a}.Holds(p)
	})
}

// Ready tells whether the profile is as a node on the road needs it.
func (u Uplink) Ready() bool { return len(u.change) == 0 }

// Prepare sets what is missing. The profile is not active while br-ex is there, so nothing is disturbed; the next boot
// builds br-ex from it. keep is handed the profile's file before it changes, or nil when there was none.
func (u Uplink) Prepare(ctx context.Context, m *host.Machine, keep func(file string, original []byte) error) error {
	if u.Ready() {
		return nil
	}
	argv := append([]string{"nmcli", "connection", "modify", "uuid", u.UUID}, u.change...)
	var original []byte
	if u.UUID == "" {
		argv = append([]string{
			"nmcli", "connection", "add", "type", "ethernet", "ifname", u.Device, "con-name", "touchdown-" + u.Device,
			"autoconnect", "yes", "--",
		}, u.change...)
		name := "touchdown-" + u.Device + ".nmconnection"
		if err := host.FileName(name); err != nil {
			return fmt.Errorf("naming the profile of the port under br-ex: %w", err)
		}
		u.File = path.Join(profiles, name)
	} else {
		var err error
		if original, err = m.ReadFile(u.File); err != nil {
			return err
		}
	}
	if err := keep(u.File, original); err != nil {
		return err
	}
	if _, err := m.Run(ctx, argv...); err != nil {
		return fmt.Errorf("setting the profile of %s: %w", u.Device, err)
	}
	// NetworkManager does not sync what it writes.
	if _, err := m.Run(ctx, "sync", u.File, profiles); err != nil {
		return fmt.Errorf("syncing the profile of %s: %w", u.Device, err)
	}
	return nil
}

// PutBackUplink gives a profile's file the content that Prepare handed to keep.
func PutBackUplink(ctx context.Context, m *host.Machine, file string, original []byte) error {
	if path.Dir(file) != profiles {
		return fmt.Errorf("putting a profile back: its file is not in %s", profiles)
	}
	folder, name := m.Folder(profiles), path.Base(file)
	if original == nil {
		if err := folder.Remove(name); err != nil {
			return err
		}
	} else {
		now, err := folder.ReadFile(name)
		if err == nil && bytes.Equal(now, original) {
			return nil
		}
		if err := folder.WriteFiles(host.File{Path: name, Data: original, Perm: 0o600}); err != nil {
			return err
		}
	}
	if _, err := m.Run(ctx, "nmcli", "connection", "reload"); err != nil {
		return fmt.Errorf("telling NetworkManager of the profile: %w", err)
	}
	return nil
}
