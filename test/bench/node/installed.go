package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/made"
	"touchdown/test/wait"
)

// What the installer was told. The node's own address is the lease that it had in the factory, as on any node whose
// installation was not made for a move.
const (
	HostName        = "sno-factory"
	Domain          = "sno.factory.example"
	InternalAddress = FactoryAddress
	FactoryAddress  = "192.0.2.10"
)

// InstalledProfile is the keyfile of the uplink as the installer leaves it: a lease.
const InstalledProfile = `[connection]
id=enp1s0
uuid=5f0b1bd0-2f4e-4c0b-9b37-3f3e6d0d9c01
type=ethernet
interface-name=enp1s0

[ethernet]

[ipv4]
method=auto
dhcp-timeout=10

[ipv6]
method=auto
addr-gen-mode=eui64
`

// ProfileOfIPv6 is that keyfile in a network of IPv6 alone: with a fixed address, and with a router that answers names, too.
func ProfileOfIPv6(address, router string) string {
	return strings.NewReplacer("method=auto\ndhcp-timeout=10", "method=disabled",
		"method=auto\naddr-gen-mode=eui64", "method=manual\naddress1="+address+"/64,"+router+"\ndns="+router+"\nmay-fail=false").Replace(InstalledProfile)
}

// WithProfile is the installed node with another profile of its uplink, booted for a test with nobody in its LAN and with the program under
// test.
func WithProfile(t testing.TB, profile string) *Machine {
	t.Helper()
	wait.Slow(t)
	image, err := Installed(wait.Within(t, 5*time.Minute))
	Require(t, err)
	m, err := New(t.Context(), Options{Image: image})
	Require(t, err)
	m.EndsWith(t)
	Require(t, m.Program())
	if err := m.WriteFile("/etc/NetworkManager/system-connections/"+Port0+".nmconnection", []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := m.Boot(wait.Within(t, time.Minute)); err != nil {
		t.Fatal(err)
	}
	return m
}

// Installed returns the name of a prepared disk with a single-node OpenShift as the installer leaves it: the kubelet has
// its certificates, all pods run, nothing of Touchdown is on it. The first call of a week makes it.
func Installed(ctx context.Context) (string, error) {
	cache, err := ready()
	if err != nil {
		return "", err
	}
	key, err := installedKey(cache)
	if err != nil {
		return "", err
	}
	// Another NetworkManager keeps its profiles and leases in its own way.
	manager, err := olderManager(cache)
	if err != nil {
		return "", err
	}
	if manager != "" {
		key += "-" + filepath.Base(manager)
	}
	return EnsureImage(ctx, "installed", key, Options{}, install)
}

// installedKey fingerprints what an installed node is made from: the packages and the files of the bench, whose folders are named by their
// contents, and what lays them on the disk.
func installedKey(cache string) (string, error) {
	var folders []string
	for _, link := range []string{"root", "layer"} {
		folder, err := filepath.EvalSymlinks(filepath.Join(cache, link))
		if err != nil {
			return "", fmt.Errorf("finding the files of the bench: %w", err)
		}
		folders = append(folders, filepath.Base(folder))
	}
	key, err := keyOf(made.Installed, folders...)
	if err != nil {
		return "", err
	}
	// The certificates of the kubelet live for 30 days; a week of the calendar is a simple bound.
	year, week := time.Now().UTC().ISOWeek()
	return fmt.Sprintf("%s-%dw%02d", key, year, week), nil
}

func install(ctx context.Context, m *Machine) error {
	for name, text := range map[string]string{
		"/etc/hostname": HostName + "\n",
		"/etc/NetworkManager/system-connections/enp1s0.nmconnection": InstalledProfile,
	} {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".nmconnection") {
			mode = 0o600
		}
		if err := m.WriteFile(name, []byte(text), mode); err != nil {
			return err
		}
	}
	if err := m.Boot(ctx); err != nil {
		return err
	}
	stop, err := m.ServeFactory(ctx)
	if err != nil {
		return err
	}
	defer stop()
	// As the installer does it: first a control plane without a node, then the kubelet with what that one wrote.
	const store = `release=quay.io/openshift-release-dev/ocp-release
digest=$(imagestore /var/lib/containers/storage /usr/local/bin/pod localhost/bench/pod:1 localhost/bench/pause:1 $release:4.18.21-x86_64)
mkdir -p /etc/bench && echo RELEASE=$release@$digest > /etc/bench/release.env
systemctl start controlplane.service`
	if _, err := m.Shell(ctx, store); err != nil {
		return err
	}
	bound, cancel := context.WithTimeoutCause(ctx, wait.Timeout(2*time.Minute), errors.New("no control plane"))
	defer cancel()
	if err := m.Wait(bound, "test -s /etc/kubernetes/kubeconfig && systemctl is-active kubelet-dependencies.target"); err != nil {
		return err
	}
	if _, err := m.Shell(ctx, "systemctl enable --quiet kubelet.service && systemctl start --no-block kubelet.service"); err != nil {
		return err
	}
	if err := m.approveUntilReady(ctx); err != nil {
		return err
	}
	if _, err := m.Shell(ctx, "sync"); err != nil {
		return err
	}
	return m.PowerOff(ctx)
}

// approveUntilReady plays the administrator who watches over the installation.
func (m *Machine) approveUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait.Timeout(2*time.Minute), errors.New("the cluster did not come up"))
	defer cancel()
	err := wait.For(ctx, "the kubelet's certificates", func() error {
		if _, err := m.Approve(ctx); err != nil {
			return err
		}
		_, err := m.Shell(ctx, "test -e /var/lib/kubelet/pki/kubelet-server-current.pem")
		return err
	})
	if err != nil {
		return err
	}
	return m.PodsReady(ctx)
}

// ServeFactory serves DHCP and DNS in the node's LAN as the factory's bench does: one lease, and the cluster's names at the
// internal address. Package site has more of a site.
func (m *Machine) ServeFactory(ctx context.Context) (stop func(), err error) {
	return m.serve(ctx, "192.0.2.1/24", "--dhcp-range=192.0.2.10,192.0.2.10", "--address=/"+Domain+"/"+FactoryAddress)
}

// ServeIPv6 serves a LAN of IPv6 alone: a router that announces the network, and DNS with the cluster's names at an address, which may be "".
func (m *Machine) ServeIPv6(ctx context.Context, router netip.Prefix, address string) (stop func(), err error) {
	flags := []string{
		"--enable-ra", fmt.Sprintf("--dhcp-range=%s,ra-only,%d", router.Masked().Addr(), router.Bits()), fmt.Sprintf("--dhcp-option=option6:dns-server,[%s]", router.Addr()),
	}
	if address != "" {
		flags = append(flags, "--address=/"+Domain+"/"+address)
	}
	return m.serve(ctx, router.String(), flags...)
}

// serve runs a server of addresses and names in the LAN; the machine there has one address.
func (m *Machine) serve(ctx context.Context, address string, flags ...string) (stop func(), err error) {
	const script = `case $0 in *:*) nodad=nodad ;; *) nodad= ;; esac
ip address replace "$0" dev lan $nodad
exec dnsmasq --keep-in-foreground --interface=lan --bind-interfaces --except-interface=lo --no-resolv --no-hosts --conf-file=/dev/null \
  --dhcp-leasefile=/dev/null --pid-file= --no-ping "$@"`
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "nsenter", append([]string{"--net=" + m.LAN(), "chroot", m.Packages(), "sh", "-ec", script, address}, flags...)...)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("serving the factory's LAN: %w", err)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}
