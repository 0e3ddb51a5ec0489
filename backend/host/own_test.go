package host_test

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/host/hosttest"
)

// TestOwnFile: what the bake writes is what the program reads, a shell too; the one in the repository is that of host.DefaultOwn.
func TestOwnFile(t *testing.T) {
	for _, addresses := range [][]string{{"10.1.2.3"}, {"192.168.127.10", "fd00::5"}, {"fd00::5", "10.1.2.3"}, {"fd00::5"}} {
		own, err := host.NewOwn(addresses)
		if err != nil {
			t.Fatal(err)
		}
		m := hosttest.New(t)
		m.File(host.OwnFile, string(own.File()))
		if got, err := m.Own(); err != nil || !slices.Equal(got, own) {
			t.Errorf("%v is read as %v, %v", own, got, err)
		}
		if four := strings.Contains(strings.Join(addresses, " "), "."); own.Four() != four {
			t.Errorf("%v has IPv4: %t", own, !four)
		}
		if want := `KUBELET_NODE_IPS="` + strings.Join(addresses, ",") + `"`; !strings.Contains(string(own.File()), want) {
			t.Errorf("%s lacks %s", own.File(), want)
		}
	}
	shipped, err := os.ReadFile(filepath.Join("../../iso-overlay", host.OwnFile))
	if err != nil || string(shipped) != string(host.DefaultOwn.File()) {
		t.Errorf("iso-overlay has another one: %v", err)
	}
}

func TestOwnIsRefused(t *testing.T) {
	for _, addresses := range [][]string{
		nil, {"fd00::5", "fd00::6"}, {"fe80::1"}, {"::"}, {"ff02::1"}, {"FD00::5 $(reboot)"}, {"10.0.0.1", "10.0.0.2"}, {"0.0.0.0"}, {"169.254.1.1"}, {"node1"}, {"10.0.0.1", "fe80::1%eth0"}, {"::ffff:10.0.0.1"},
	} {
		if own, err := host.NewOwn(addresses); err == nil {
			t.Errorf("%v is taken for %v", addresses, own)
		}
	}
	m := hosttest.New(t)
	if own, err := m.Own(); err != nil || len(own) != 0 {
		t.Errorf("without a file: %v, %v", own, err)
	}
	folder := hosttest.New(t)
	folder.File(host.OwnFile+"/in its place", "")
	if own, err := folder.Own(); err == nil { // not "this node has none": nothing would keep its address
		t.Errorf("a file that cannot be read is taken for %v", own)
	}
	for _, text := range []string{"", "TOUCHDOWN_ADDRESSES=\n", "KUBELET_NODE_IP=10.0.0.1\n", "TOUCHDOWN_ADDRESSES=\"$(reboot)\"\n"} {
		m.File(host.OwnFile, text)
		if own, err := m.Own(); err == nil {
			t.Errorf("%q is taken for %v", text, own)
		}
	}
}

// TestInside: the networks that the bake wrote down are read back; what cannot be read of them leaves the cluster's defaults.
func TestInside(t *testing.T) {
	m := hosttest.New(t)
	if got := host.Inside(m.Machine); len(got) != 0 {
		t.Errorf("without a file: %v", got)
	}
	want := []netip.Prefix{netip.MustParsePrefix("169.254.0.0/17"), netip.MustParsePrefix("fd69::/112")}
	m.File(host.OwnFile, string(host.DefaultOwn.File(want...)))
	if got := host.Inside(m.Machine); !slices.Equal(got, want) {
		t.Errorf("%v is read as %v", want, got)
	}
	if own, err := m.Own(); err != nil || !slices.Equal(own, host.DefaultOwn) {
		t.Errorf("the addresses beside it: %v, %v", own, err)
	}
	for _, text := range []string{"", "TOUCHDOWN_INSIDE=\n", "TOUCHDOWN_INSIDE=\"169.254.0.1 $(reboot) 1.2.3.4/99\"\n"} {
		m.File(host.OwnFile, text)
		if got := host.Inside(m.Machine); len(got) != 0 {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// TestOwnEntries: the node's own entries on br-ex have no network, and the same address with one is the site's.
func TestOwnEntries(t *testing.T) {
	own, err := host.NewOwn([]string{"10.1.2.3", "fd00::5"})
	if err != nil {
		t.Fatal(err)
	}
	if four, six := own.Prefixes(false), own.Prefixes(true); fmt.Sprint(four, six) != "[10.1.2.3/32] [fd00::5/128]" {
		t.Errorf("%v, %v", four, six)
	}
	if own.String() != "10.1.2.3, fd00::5" {
		t.Errorf("a person reads %q", own)
	}
	for entry, has := range map[string]bool{"10.1.2.3/32": true, "fd00::5/128": true, "10.1.2.3/24": false, "fd00::5/64": false, "10.1.2.4/32": false} {
		if own.Has(netip.MustParsePrefix(entry)) != has {
			t.Errorf("%s: %t", entry, !has)
		}
	}
}
