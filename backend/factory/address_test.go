package factory_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/test/wait"
)

// TestOwnAddressesComeLast: the real script orders the real kernel's addresses, in a network namespace of the test's own. OVN-Kubernetes
// takes the first IPv4 address, and the first IPv6 address that is not deprecated; it must find one of each.
func TestOwnAddressesComeLast(t *testing.T) {
	if err := exec.Command("unshare", "--net", "--pid", "--fork", "ip", "link").Run(); err != nil {
		wait.Unable(t, "a network namespace needs root: %v", err)
	}
	const script = "../../iso-overlay/usr/local/bin/touchdown-internal-address"
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	own, err := host.NewOwn([]string{"192.0.2.10", "2001:db8:1::10"})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"settings": string(own.File()),
		"order":    strings.ReplaceAll(string(text), host.OwnFile, filepath.Join(dir, "settings")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const six = "echo TOUCHDOWN_ADDRESSES=2001:db8:1::10 >$settings; "
	const lease = " valid_lft 3600 preferred_lft 3600"
	for name, c := range map[string]struct{ before, want string }{
		"nothing from the site": {"", "192.0.2.10/32 2001:db8:1::10/128"},
		"a site's static addresses": {
			"a 192.0.2.10/32; a 198.51.100.7/24; a 2001:db8:5::7/64",
			"198.51.100.7/24 192.0.2.10/32 2001:db8:1::10/128(deprecated) 2001:db8:5::7/64",
		},
		"a lease behind a fixed entry": {
			"a 192.0.2.10/24; a 198.51.100.7/24" + lease,
			"198.51.100.7/24(dynamic) 192.0.2.10/24 192.0.2.10/32 2001:db8:1::10/128",
		},
		"a lease in the own subnet": {
			"a 192.0.2.10/24; a 192.0.2.77/24" + lease,
			"192.0.2.77/24(dynamic) 192.0.2.10/32 192.0.2.10/24 2001:db8:1::10/128",
		},
		"the lease is the own address": {
			"a 192.0.2.10/24" + lease,
			"192.0.2.10/24(dynamic) 192.0.2.10/32 2001:db8:1::10/128",
		},
		"OVN-Kubernetes' own addresses": {
			"a 169.254.0.2/17; a fd69::2/112",
			"169.254.0.2/17 192.0.2.10/32 2001:db8:1::10/128 fd69::2/112",
		},
		"a cluster's own networks of OVN-Kubernetes": {
			"echo 'TOUCHDOWN_INSIDE=\"10.99.0.0/17 fd55::/112\"' >>$settings; a 10.99.0.2/17; a fd55::2/112",
			"10.99.0.2/17 192.0.2.10/32 2001:db8:1::10/128 fd55::2/112",
		},
		"a cluster's own network of one family": {
			"echo 'TOUCHDOWN_INSIDE=\"10.99.0.0/17\"' >>$settings; a 10.99.0.2/17; a fd69::2/112",
			"10.99.0.2/17 192.0.2.10/32 2001:db8:1::10/128 fd69::2/112",
		},
		"an IPv6 address comes late": {
			"bash $order; a 2001:db8:5::7/64; ip -6 -o address show dev br-ex scope global | head -1 | grep -qF 2001:db8:5::7",
			"192.0.2.10/32 2001:db8:5::7/64 2001:db8:1::10/128(deprecated)",
		},
		"the installation's IPv6 address, with a network": {
			"a 2001:db8:1::10/64 noprefixroute; ip route add 2001:db8:1::/64 dev br-ex; a 2001:db8:5::7/64; bash $order; d 2001:db8:5::7/64; ip -6 route show 2001:db8:1::/64 dev br-ex | grep -q .",
			"192.0.2.10/32 2001:db8:1::10/64",
		},
		"the site's IPv6 address goes": {
			"a 2001:db8:5::7/64; bash $order; d 2001:db8:5::7/64",
			"192.0.2.10/32 2001:db8:1::10/128",
		},
		"IPv6 alone": {six + "true", "2001:db8:1::10/128"},
		"IPv6 alone, a site's addresses": {
			six + "a 2001:db8:5::7/64; a 198.51.100.7/24",
			"198.51.100.7/24 2001:db8:1::10/128(deprecated) 2001:db8:5::7/64",
		},
		"IPv6 alone, the cable is out, so nobody can be asked for a duplicate": {
			six + "ip link set cable down; ip address add 2001:db8:1::10/64 dev br-ex; bash $order", "2001:db8:1::10/64",
		},
		"IPv6 alone, the site has a machine with the same address": {
			six + "a() { ip address add \"$@\"; }; a 2001:db8:1::10/64 dev cable nodad; a 2001:db8:1::10/64 dev br-ex; until ip -6 -o address show dev br-ex | grep -q dadfailed; do sleep 0.1; done",
			"2001:db8:1::10/64",
		},
		"on a busy machine another run takes the address away, and puts it back seconds later": {
			`ip() { [ "$*" = "-o address show dev br-ex to 192.0.2.10" ] && [ $SECONDS -lt 3 ] || command ip "$@"; }; export -f ip; bash $order boot; unset -f ip`,
			"192.0.2.10/32 2001:db8:1::10/128",
		},
		"the kernel's messages end: the watch ends too, for systemd starts it again": {
			`ip() { [ "$*" = "-o monitor address" ] || command ip "$@"; }; export -f ip; said=$(bash $order watch 2>&1) && exit 1; [ "${said%% has ended*}" = "ip monitor" ] || { echo "$said"; exit 1; }; unset -f ip`,
			"192.0.2.10/32 2001:db8:1::10/128",
		},
		"a lease replaced another before the kernel was listened to": {
			`ip() { [ "$*" = "-o monitor address" ] || { command ip "$@"; return; }; exec sleep 600; }; export -f ip; a 198.51.100.7/24` + lease + `; bash $order; d 198.51.100.7/24; a 203.0.113.9/24` + lease +
				`; bash $order watch >/dev/null 2>&1 & placed 203.0.113.9; unset -f ip; order=/dev/null`,
			"203.0.113.9/24(dynamic) 192.0.2.10/32 2001:db8:1::10/128",
		},
		"a lease replaces another, and nobody tells: a look once a minute finds it": {
			`ip() { [ "$*" = "-o monitor address" ] || { command ip "$@"; return; }; exec sleep 600; }; read() { [ "$*" = "-r -t 60 line" ] && set -- -r -t 0.5 line; builtin read "$@"; }; export -f ip read; ` +
				`bash $order; a 198.51.100.7/24` + lease + `; bash $order watch >/dev/null 2>&1 & placed 198.51.100.7; d 198.51.100.7/24; a 203.0.113.9/24` + lease + `; placed 203.0.113.9; unset -f ip; order=/dev/null`,
			"203.0.113.9/24(dynamic) 192.0.2.10/32 2001:db8:1::10/128",
		},
		"a lease replaces another, and NetworkManager tells nobody": {
			"bash $order; a 198.51.100.7/24" + lease + "; bash $order watch >/dev/null 2>&1 & placed 198.51.100.7; d 198.51.100.7/24; a 203.0.113.9/24" + lease + "; placed 203.0.113.9; order=/dev/null",
			"203.0.113.9/24(dynamic) 192.0.2.10/32 2001:db8:1::10/128",
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := exec.Command("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", `set -e
a() { case $1 in *:*) set -- "$@" nodad ;; esac; ip address add "$@" dev br-ex; }
d() { ip address del "$@" dev br-ex; }
placed() { for _ in {1..500}; do [[ "$(ip -4 -o address show dev br-ex)" =~ ^[^$'\n']*" $1/24 ".*" 192.0.2.10/32 " ]] && return; sleep 0.1; done; }
ip link add br-ex type veth peer name cable
ip link set cable up
ip link set br-ex up
`+c.before+`
bash $order
bash $order # a second run changes nothing
ip -o address show dev br-ex scope global`)
			run.Env = append(os.Environ(), "order="+filepath.Join(dir, "order"), "settings="+filepath.Join(dir, "settings"))
			defer func() { _ = os.WriteFile(filepath.Join(dir, "settings"), own.File(), 0o700) }()
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			var got []string
			entry := regexp.MustCompile(`inet6? (\S+)`)
			for line := range strings.Lines(string(out)) {
				at := entry.FindStringSubmatch(line)
				if at == nil {
					t.Fatal(string(out))
				}
				for _, flag := range []string{"dynamic", "deprecated", "tentative", "dadfailed"} {
					if strings.Contains(line, " "+flag+" ") {
						at[1] += "(" + flag + ")"
					}
				}
				got = append(got, at[1])
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s\nwant %s\n%s", strings.Join(got, " "), c.want, out)
			}
		})
	}
}
