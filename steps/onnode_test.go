package steps_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend"
	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/kubelet"
	"touchdown/backend/layout"
	"touchdown/steps"
	benchnode "touchdown/test/bench/node"
	"touchdown/test/wait"
)

// real is the booted bench node as the steps see it, driven from outside of it.
func real(t *testing.T, m *benchnode.Machine) *backend.Node {
	t.Helper()
	cmd, err := m.Command(t.Context(), "true")
	if err != nil {
		t.Fatal(err)
	}
	leader := cmd.Args[slices.Index(cmd.Args, "-t")+1]
	h := host.Open(host.Options{
		Root: filepath.Join("/proc", leader, "root"), Log: slog.New(slog.DiscardHandler),
		Exec: func(ctx context.Context, c host.Command) ([]byte, []byte, error) {
			cmd, err := m.Command(ctx, c.Argv...)
			if err != nil {
				return nil, nil, err
			}
			var out, complaints bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.Stdin), &out, &complaints
			err = cmd.Run()
			return out.Bytes(), slices.Concat(out.Bytes(), complaints.Bytes()), err
		},
	})
	c, err := kube.Open(forwarded(t, m), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 200 * time.Millisecond, Poll: 200 * time.Millisecond}
	return &backend.Node{Host: h, Kube: c, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
}

// forwarded is the node's administrator's kubeconfig, whose server is a port of this machine that leads into the node.
func forwarded(t *testing.T, m *benchnode.Machine) string {
	t.Helper()
	data, err := m.ReadFile(benchnode.AdminKubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server, cluster.TLSServerName = "https://"+intoNode(t, m), "localhost"
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// intoNode is a port of this machine that leads to the API on the node.
func intoNode(t *testing.T, m *benchnode.Machine) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := m.Dial(context.Background(), "tcp", "127.0.0.1:6443")
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in); out.Close() }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return l.Addr().String()
}

// gated is an installed node that is off, with the gate before its kubelet.
func gated(ctx context.Context, t *testing.T) *benchnode.Machine {
	t.Helper()
	wait.Slow(t)
	image, err := benchnode.Installed(ctx)
	benchnode.Require(t, err)
	m, err := benchnode.New(ctx, benchnode.Options{Image: image})
	benchnode.Require(t, err)
	m.EndsWith(t)
	for name, text := range map[string]string{
		"/etc/systemd/system/kubelet.service.d/05-gate.conf": "[Unit]\nConditionPathExists=!" + layout.Armed + "\n", layout.Armed: "",
	} {
		if err := m.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// inFactory boots the node in the factory's LAN.
func inFactory(ctx context.Context, t *testing.T, m *benchnode.Machine) {
	t.Helper()
	if err := m.Boot(ctx); err != nil {
		t.Fatal(err)
	}
	stop, err := m.ServeFactory(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// A real kubelet behind the gate, its certificates expired in storage: it is released, its requests are approved, a power cut
// comes in between, and in the end it is held back again.
func TestARealKubeletIsReleasedWithExpiredCertificates(t *testing.T) {
	ctx := wait.Within(t, 8*time.Minute)
	m := gated(ctx, t)
	if err := m.ExpireKubeletCertificates(ctx, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	inFactory(ctx, t, m)
	n := real(t, m)
	release, renew, r := &steps.Kubelet{Limit: 3 * time.Minute}, &steps.CSRs{Limit: 3 * time.Minute}, newReport()
	if kubelet.Active(ctx, n.Host) {
		t.Fatal("the kubelet of an armed node runs")
	}
	begun := time.Now()
	if err := release.Run(ctx, n, r); err != nil {
		t.Fatal(err)
	}
	t.Logf("the API answers %.1f s after the release", time.Since(begun).Seconds())
	if err := m.PowerCut(ctx, false); err != nil {
		t.Fatal(err)
	}
	inFactory(ctx, t, m)
	n = real(t, m)
	if kubelet.Gated(n.Host) {
		t.Error("the power cut brought the gate back")
	}
	begun = time.Now()
	for _, s := range []steps.Step{release, renew} {
		if err := s.Run(ctx, n, r); err != nil {
			t.Fatalf("step %s: %v", s.ID(), err)
		}
	}
	t.Logf("node ready with new certificates %.1f s later: %s", time.Since(begun).Seconds(), strings.Join(r.said, " "))
	if !slices.ContainsFunc(r.said, func(s string) bool { return strings.Contains(s, "Approved the node's own") }) {
		t.Error("nothing was approved")
	}
	if err := release.Undo(ctx, n, r); err != nil {
		t.Fatal(err)
	}
	if !kubelet.Gated(n.Host) || kubelet.Active(ctx, n.Host) {
		t.Error("the kubelet is not held back")
	}
	if out, err := m.Shell(ctx, "systemctl list-units --plain --no-legend --state=active 'crio-*.scope'"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("containers still run: %s (%v)", out, err)
	}
}
