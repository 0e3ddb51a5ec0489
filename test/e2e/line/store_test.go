package line

import (
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"touchdown/backend/images"
	bench "touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// line is a stocked node on the factory's bench line: baked, not armed, with the program under test.
type line struct {
	t *testing.T
	*node.Machine
	ctx context.Context //nolint:containedctx // the time that the test has; ends with it
}

func newLine(t *testing.T, limit time.Duration) *line {
	t.Helper()
	return bootLine(t, limit, func(l *line) {
		stop, err := l.ServeFactory(l.ctx)
		l.must(err)
		l.t.Cleanup(stop)
	})
}

// lineWithRegistry is the same in a LAN with a registry that has all images of the bench.
func lineWithRegistry(t *testing.T, limit time.Duration) (*line, *bench.Folder, *site.Site) {
	t.Helper()
	wait.Slow(t)
	folder, err := bench.Find(bench.Small)
	node.Require(t, err)
	var s *site.Site
	l := bootLine(t, limit, func(l *line) {
		s = site.New(t, site.Options{LAN: l.LAN(), Network: site.Factory()})
		s.DNS.Record("api-int."+node.Domain, netip.MustParseAddr(node.InternalAddress))
		s.Registry.Serve(folder)
		l.must(l.UseRegistry(site.RegistryName, s.Registry.CA(), "", ""))
	})
	return l, folder, s
}

// bootLine is such a node in a LAN that serve makes.
func bootLine(t *testing.T, limit time.Duration, serve func(*line)) *line {
	t.Helper()
	wait.Slow(t)
	ctx := wait.Within(t, limit)
	image, err := node.Stocked(ctx, bench.Small)
	node.Require(t, err)
	m, err := node.New(ctx, node.Options{Image: image})
	node.Require(t, err)
	m.EndsWith(t)
	wait.Explain(t, "the units of the image store", m.Says("journalctl -b --no-pager -n 40 -u crio -u touchdown-images -u touchdown-images-check -u var-lib-shared-touchdown.mount"))
	l := &line{t, m, ctx}
	l.must(m.Program())
	l.must(m.Boot(ctx))
	serve(l)
	l.must(m.PodsReady(ctx))
	out, err := m.Bake(ctx)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	l.must(m.PodsReady(ctx))
	return l
}

func (l *line) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// run runs the program and returns what it printed; it has to succeed.
func (l *line) run(args ...string) string {
	l.t.Helper()
	begun := time.Now()
	out, err := l.Run(l.ctx, append([]string{"touchdown"}, args...)...)
	l.t.Logf("touchdown %s (%.1f s)\n%s", strings.Join(args, " "), time.Since(begun).Seconds(), out)
	if err != nil {
		l.t.Fatalf("touchdown %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func (l *line) shell(script string) string {
	l.t.Helper()
	out, err := l.Shell(l.ctx, script)
	if err != nil {
		l.t.Fatalf("%s: %v", script, err)
	}
	return strings.TrimSpace(out)
}

func (l *line) status() images.Status {
	l.t.Helper()
	var s images.Status
	l.must(json.Unmarshal([]byte(l.run("images", "status", "-o", "json")), &s))
	return s
}

// TestImageStoreIsSeededAndRehearsed is the factory's way: seed, again with nothing to do, CRI-O's own copies moved away, then
// a start of the node with no registry and nothing but the seeded store, and back.
func TestImageStoreIsSeededAndRehearsed(t *testing.T) {
	l := newLine(t, 8*time.Minute)
	have := l.shell("crictl images -q | sort -u | wc -l")
	l.run("images", "seed")
	s := l.status()
	if !s.Well() || s.Outside != 0 {
		t.Fatalf("after seeding: %+v", s)
	}
	if out := l.run("images", "seed"); !strings.Contains(out, "Nothing had to be changed") {
		t.Errorf("the second time it changed something:\n%s", out)
	}
	l.move()

	before := l.Boots()
	if _, err := l.Run(l.ctx, "touchdown", "images", "rehearse"); err != nil {
		t.Logf("the command ended with the reboot: %v", err)
	}
	l.must(l.Booted(l.ctx, before))
	l.must(l.Wait(l.ctx, "crictl images -q"))
	alone := l.shell("findmnt -no SOURCE /var/lib/containers/storage; ls /var/lib/containers/storage/overlay-images 2>/dev/null | grep -c '^[0-9a-f]' || true; crictl images -q | sort -u | wc -l")
	t.Logf("in the rehearsal: %s; before: %s images", alone, have)
	if !strings.HasSuffix(alone, "\n0\n"+have) {
		t.Errorf("the rehearsal's own store and list: %q, want none of its own and %s", alone, have)
	}
	l.must(l.Booted(l.ctx, before+1))
	l.must(l.PodsReady(l.ctx))
	l.run("images", "rehearse", "--last")
	if got := l.shell("findmnt -n /var/lib/containers/storage || true; ls /etc/containers/registries.conf.d /var/lib/containers"); strings.Contains(got, "rehearsal") {
		t.Errorf("left behind: %s", got)
	}
}
