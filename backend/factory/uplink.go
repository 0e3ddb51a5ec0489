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

func (u *Uplink) compare(ctx context.Context, m *host.Machine, own host.Own) error {
	settings := []string{"auto", "", "yes", "0", "auto", ""} // of a profile that is only made yet
	if u.UUID != "" {
		out, err := m.Run(ctx, "nmcli", "-g", "ipv4.method,ipv4.addresses,ipv4.may-fail,ipv4.dhcp-timeout,ipv6.method,ipv6.addresses",
			"connection", "show", "uuid", u.UUID)
		if err != nil {
			return fmt.Errorf("reading the profile of %s: %w", u.Device, err)
		}
		settings = strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(settings) != 6 {
			return fmt.Errorf("reading the profile of %s: %d values instead of 6", u.Device, len(settings))
		}
	}
	method4, method6 := settings[0], settings[4]
	for _, a := range own {
		family, method, has := "ipv4", &method4, settings[1]
		if a.Is6() {
			family, method, has = "ipv6", &method6, strings.ReplaceAll(settings[5], "\\:", ":") // nmcli escapes its separator
		}
		if *method == "disabled" || *method == "ignore" || *method == "link-local" {
			*method = "manual"
			u.change = append(u.change, family+".method", *method)
		}
		if !held(a, has) {
			u.change = append(u.change, "+"+family+".addresses", netip.PrefixFrom(a, a.BitLen()).String())
		}
	}
	if method4 == "auto" && settings[2] != "yes" {
		u.change = append(u.change, "ipv4.may-fail", "yes")
	}
	if method4 == "auto" && settings[3] != forever {
		u.change = append(u.change, "ipv4.dhcp-timeout", forever)
	}
	// While IPv6 waits for a router too, a port without any server stays "connecting" and configure-ovs gives up on it.
	if method4 == "auto" && method6 == "auto" {
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
