package run

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"touchdown/test/bench/controlplane/internal/seed"
)

// clusterDNS answers on a node at the address of the cluster's DNS service, as CoreDNS does for names outside the cluster: it
// passes them to the first name server of the node's resolv.conf (openshift/cluster-dns-operator: forward . /etc/resolv.conf, which
// CoreDNS's pod has from its start). Over UDP only; what the service network would do, a local route does.
func (b *bench) clusterDNS(ctx context.Context) error {
	if out, err := exec.CommandContext(ctx, "ip", "route", "replace", "local", seed.DNSAddress, "dev", "lo").CombinedOutput(); err != nil {
		return fmt.Errorf("routing the address of the DNS service: %w: %s", err, out)
	}
	// The node's own name server listens on all addresses, and this one beside it.
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
		if err != nil {
			return err
		}
		return failed
	}}
	socket, err := config.ListenPacket(ctx, "udp", net.JoinHostPort(seed.DNSAddress, "53"))
	if err != nil {
		return fmt.Errorf("listening as the DNS service: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = socket.Close() })
	go func() {
		packet := make([]byte, 64<<10)
		for {
			n, from, err := socket.ReadFrom(packet)
			if err != nil {
				return
			}
			question := append([]byte{}, packet[:n]...)
			go func() {
				answer, err := forward(ctx, question)
				if err != nil {
					b.log.Info("DNS question not answered", "error", err)
					return
				}
				_, _ = socket.WriteTo(answer, from)
			}()
		}
	}()
	return nil
}

func forward(ctx context.Context, question []byte) ([]byte, error) {
	upstream, err := nameServer("/etc/resolv.conf")
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "udp", net.JoinHostPort(upstream, "53"))
	if err != nil {
		return nil, fmt.Errorf("reaching the node's name server: %w", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := conn.Write(question); err != nil {
		return nil, fmt.Errorf("asking the node's name server: %w", err)
	}
	answer := make([]byte, 64<<10)
	n, err := conn.Read(answer)
	if err != nil {
		return nil, fmt.Errorf("waiting for the node's name server %s: %w", upstream, err)
	}
	return answer[:n], nil
}

func nameServer(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the node's name servers: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "nameserver" {
			continue
		}
		if _, err := netip.ParseAddr(words[1]); err == nil {
			return words[1], nil
		}
	}
	return "", fmt.Errorf("%s names no name server", file)
}
