package host_test

import (
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
	for _, addresses := range [][]string{{"10.1.2.3"}, {"192.168.127.10", "fd00::5"}, {"fd00::5", "10.1.2.3"}} {
		own, err := host.NewOwn(addresses)
		if err != nil {
			t.Fatal(err)
		}
		m := hosttest.New(t)
		m.File(host.OwnFile, string(own.File()))
		if got, err := m.Own(); err != nil || !slices.Equal(got, own) {
			t.Errorf("%v is read as %v, %v", own, got, err)
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
		nil, {"fd00::5"}, {"10.0.0.1", "10.0.0.2"}, {"0.0.0.0"}, {"169.254.1.1"}, {"node1"}, {"10.0.0.1", "fe80::1%eth0"}, {"::ffff:10.0.0.1"},
	} {
		if own, err := host.NewOwn(addresses); err == nil {
			t.Errorf("%v is taken for %v", addresses, own)
		}
	}
	m := hosttest.New(t)
	if own, err := m.Own(); err != nil || len(own) != 0 {
		t.Errorf("without a file: %v, %v", own, err)
	}
	for _, text := range []string{"", "TOUCHDOWN_ADDRESSES=\n", "KUBELET_NODE_IP=10.0.0.1\n", "TOUCHDOWN_ADDRESSES=\"$(reboot)\"\n"} {
		m.File(host.OwnFile, text)
		if own, err := m.Own(); err == nil {
			t.Errorf("%q is taken for %v", text, own)
		}
	}
}
