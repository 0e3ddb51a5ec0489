package factory_test

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/problem"
)

const uplinkFile = "/etc/NetworkManager/system-connections/eno1.nmconnection"

// port is a machine whose br-ex is built on eno1; settings are those that compare asks for, addresses what br-ex has of IPv6.
func port(t *testing.T, settings, addresses string) *hosttest.Fake {
	t.Helper()
	m := hosttest.New(t)
	m.On("nmcli -g connection.interface-name connection show ovs-if-phys0", "eno1\n", nil)
	m.On("nmcli -t -f UUID,FILENAME connection show", "u1:"+uplinkFile+"\nu2:/run/NetworkManager/system-connections/ovs-if-br-ex.nmconnection\n", nil)
	m.On("nmcli -g connection.interface-name connection show uuid u1", "eno1\n", nil)
	m.On("nmcli -g ipv4.method,ipv4.addresses,ipv4.may-fail,ipv4.dhcp-timeout,ipv6.method,ipv6.addresses,ipv6.may-fail,ipv6.dhcp-timeout,ipv6.ra-timeout connection show uuid u1", settings+"yes\n0\n0\n", nil)
	m.On("ip -6 -o address show dev br-ex scope global", addresses, nil)
	m.On("nmcli connection modify", "", nil)
	m.On("nmcli connection reload", "", nil)
	m.On("sync", "", nil)
	m.File(uplinkFile, "[connection]\nid=eno1\n")
	return m
}

func TestUplink(t *testing.T) {
	for _, c := range []struct{ name, settings, ipv6, want string }{
		{"ready", "auto\n192.168.127.10/32\nyes\n2147483647\nlink-local\n\n", "", ""},
		{
			"DHCP", "auto\n\nyes\n0\nauto\n\n", "",
			"nmcli connection modify uuid u1 +ipv4.addresses 192.168.127.10/32 ipv4.dhcp-timeout 2147483647 ipv6.method link-local",
		},
		{
			"DHCP, IPv6 in use", "auto\n192.168.127.10/32\nno\n2147483647\nauto\n\n", "2: br-ex inet6 2001:db8::1/64 scope global\n",
			"nmcli connection modify uuid u1 ipv4.may-fail yes",
		},
		{"static", "manual\n198.51.100.10/24\nyes\n0\nauto\n\n", "", "nmcli connection modify uuid u1 +ipv4.addresses 192.168.127.10/32"},
		{
			"the installation's, with a network", "auto\n192.168.127.10/24\nyes\n2147483647\nlink-local\n\n", "",
			"nmcli connection modify uuid u1 +ipv4.addresses 192.168.127.10/32",
		},
		{"no IPv4", "disabled\n\nyes\n0\nauto\n\n", "", "nmcli connection modify uuid u1 ipv4.method manual +ipv4.addresses 192.168.127.10/32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := port(t, c.settings, c.ipv6)
			u, err := factory.FindUplink(t.Context(), m.Machine, host.DefaultOwn)
			if err != nil || u.Device != "eno1" || u.Ready() != (c.want == "") {
				t.Fatalf("%+v, %v", u, err)
			}
			kept := ""
			err = u.Prepare(t.Context(), m.Machine, func(file string, original []byte) error {
				kept = file + " " + string(original)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if slices.ContainsFunc(m.Calls(), func(s string) bool { return strings.Contains(s, "modify") }) {
					t.Errorf("a ready profile was changed: %q", m.Calls())
				}
				return
			}
			if !slices.Contains(m.Calls(), c.want) {
				t.Errorf("%q is not among\n%s", c.want, strings.Join(m.Calls(), "\n"))
			}
			if kept != uplinkFile+" [connection]\nid=eno1\n" {
				t.Errorf("kept %q", kept)
			}
		})
	}
}

// TestUplinkOfTwoFamilies: a dual-stack node keeps both of its addresses.
func TestUplinkOfTwoFamilies(t *testing.T) {
	own := host.Own{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd00::5")}
	for settings, want := range map[string]string{
		"auto\n\nyes\n2147483647\nlink-local\n\n":                                  "nmcli connection modify uuid u1 +ipv4.addresses 10.1.2.3/32 ipv6.method manual +ipv6.addresses fd00::5/128",
		"auto\n10.1.2.3/32\nyes\n2147483647\nauto\nfd00\\:\\:7/64\n":               "nmcli connection modify uuid u1 +ipv6.addresses fd00::5/128",
		"auto\n10.1.2.3/24, 10.1.2.3/32\nyes\n2147483647\nauto\nfd00\\:\\:5/128\n": "",
		// The installation's, with a network: the kernel has an IPv6 address once, so that another entry would take the route to the neighbours.
		"manual\n10.1.2.3/24\nno\n0\nmanual\nfd00\\:\\:5/64\n":                 "nmcli connection modify uuid u1 +ipv4.addresses 10.1.2.3/32",
		"manual\n10.1.2.3/32\nno\n0\nmanual\nfd00\\:\\:7/64, fd00\\:\\:5/64\n": "",
	} {
		m := port(t, settings, "2: br-ex inet6 fd00::5/64 scope global\n")
		u, err := factory.FindUplink(t.Context(), m.Machine, own)
		if err != nil || u.Ready() != (want == "") {
			t.Fatalf("%q: %+v, %v", settings, u, err)
		}
		if err := u.Prepare(t.Context(), m.Machine, func(string, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if want != "" && !slices.Contains(m.Calls(), want) {
			t.Errorf("%q is not among\n%s", want, strings.Join(m.Calls(), "\n"))
		}
	}
}

// TestUplinkOfIPv6Alone: a node without IPv4 keeps its address, and waits for what a router gives without an end.
func TestUplinkOfIPv6Alone(t *testing.T) {
	own := host.Own{netip.MustParseAddr("fd00::5")}
	const asks = " ipv6.dhcp-timeout 2147483647 ipv6.ra-timeout 2147483647"
	for settings, want := range map[string]string{
		"disabled\n\nyes\n0\nauto\n\n":                         "+ipv6.addresses fd00::5/128" + asks,
		"disabled\n\nyes\n0\ndhcp\nfd00\\:\\:5/128\n":          strings.TrimPrefix(asks, " "),
		"disabled\n\nyes\n0\nmanual\nfd00\\:\\:5/64\n":         "",
		"disabled\n\nyes\n0\nlink-local\n\n":                   "ipv6.method manual +ipv6.addresses fd00::5/128",
		"auto\n\nno\n0\nmanual\nfd00\\:\\:5/64\n":              "ipv4.may-fail yes ipv4.dhcp-timeout 2147483647",
		"auto\n\nyes\n2147483647\nauto\nfd00\\:\\:5/128\n":     strings.TrimPrefix(asks, " "), // both wait, and IPv6 stays on
		"manual\n10.0.0.5/24\nno\n0\nmanual\nfd00\\:\\:5/64\n": "",
	} {
		m := port(t, settings, "")
		u, err := factory.FindUplink(t.Context(), m.Machine, own)
		if err != nil || u.Ready() != (want == "") {
			t.Fatalf("%q: %+v, %v", settings, u, err)
		}
		if err := u.Prepare(t.Context(), m.Machine, func(string, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if want != "" && !slices.Contains(m.Calls(), "nmcli connection modify uuid u1 "+want) {
			t.Errorf("%q is not among\n%s", want, strings.Join(m.Calls(), "\n"))
		}
	}
	if _, err := factory.FindUplink(t.Context(), port(t, "disabled\n", "").Machine, own); err == nil {
		t.Error("a profile with too few values is taken")
	}
}

// TestManifestsKnowTheAddress: the bake lays the addresses of this node, nothing else of it differs from another's.
func TestManifestsKnowTheAddress(t *testing.T) {
	own := host.Own{netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("fd00::5")}
	all, err := factory.Manifests(own)
	if err != nil {
		t.Fatal(err)
	}
	others, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range all {
		for j, f := range m.Files {
			switch same := bytes.Equal(f.Data, others[i].Files[j].Data); {
			case f.Path == host.OwnFile && !bytes.Equal(f.Data, own.File()):
				t.Errorf("%s is\n%s", f.Path, f.Data)
			case f.Path != host.OwnFile && !same:
				t.Errorf("%s depends on the address", f.Path)
			case bytes.Contains(f.Data, []byte(host.DefaultOwn.String())):
				t.Errorf("%s has another node's address", f.Path)
			}
		}
	}
}

func TestUplinkWithoutBridge(t *testing.T) {
	m := hosttest.New(t)
	m.On("nmcli", "", &strErr{"exit status 10"})
	_, err := factory.FindUplink(t.Context(), m.Machine, host.DefaultOwn)
	if p := problem.From(err); p.Code != "FAC-BREX" {
		t.Errorf("%v", err)
	}
}

type strErr struct{ s string }

func (e *strErr) Error() string { return e.s }

func TestPutBackUplink(t *testing.T) {
	m := port(t, "", "")
	m.File(uplinkFile, "changed")
	if err := factory.PutBackUplink(t.Context(), m.Machine, uplinkFile, []byte("original")); err != nil {
		t.Fatal(err)
	}
	if got, _ := m.ReadFile(uplinkFile); string(got) != "original" {
		t.Errorf("the profile is %q", got)
	}
	if err := factory.PutBackUplink(t.Context(), m.Machine, uplinkFile, nil); err != nil || m.Exists(uplinkFile) {
		t.Errorf("a profile that the bake made is still there, %v", err)
	}
}

// TestManifests: what is in the program is complete and private to nobody but the master pool.
func TestManifests(t *testing.T) {
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]bool{}
	for _, m := range all {
		if m.Labels["machineconfiguration.openshift.io/role"] != "master" {
			t.Errorf("%s has the labels %v", m.Name, m.Labels)
		}
		for _, f := range m.Files {
			if paths[f.Path] || len(f.Data) == 0 || f.Mode == 0 {
				t.Errorf("%s: %s is there twice, empty or has no mode", m.Name, f.Path)
			}
			paths[f.Path] = true
		}
	}
	for _, path := range []string{
		"/etc/systemd/system/kubelet.service.d/05-touchdown.conf", "/etc/systemd/system/kubelet.service.d/30-nodenet.conf",
		"/etc/systemd/system/crio.service.d/30-nodenet.conf", "/etc/NetworkManager/dispatcher.d/pre-up.d/20-touchdown-internal-address",
		"/etc/systemd/system/touchdown-console@.service", "/etc/systemd/system/dnsmasq.service",
		"/etc/tmpfiles.d/touchdown-images.conf",
	} {
		if !paths[path] {
			t.Errorf("%s is not baked", path)
		}
	}
}
