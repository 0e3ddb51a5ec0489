package images

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/kube/kubetest"
)

// opened is the node on which a CRI-O for tests runs, without a cluster.
func opened(t *testing.T, s *critest.Server) *Node {
	t.Helper()
	n, err := Open(host.Open(host.Options{Root: s.Root, Exec: nothing}), nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestAfterBoot: a boot in which CRI-O lacks an image is kept for the screens, and the generation before stays; one in which all is
// well reads each byte and lets it go.
func TestAfterBoot(t *testing.T) {
	s := critest.Start(t)
	storeOf(t, s.Root, "a", "b")
	p := seed(t, s.Root)
	g, err := p.Current()
	if err != nil {
		t.Fatal(err)
	}
	write(t, s.Root, bootID, "two\n")
	write(t, s.Root, conf, naming)
	write(t, s.Root, "/proc/self/mountinfo", "36 35 8:4 / "+Mount+" ro,relatime - xfs /dev/sda4 rw\n")
	if err := os.Symlink(filepath.Base(StoreDir), filepath.Join(s.Root, Mount)); err != nil {
		t.Fatal(err)
	}
	n := opened(t, s)
	if err := noteSwitchIn(n.host, "one"); err != nil {
		t.Fatal(err)
	}
	for _, well := range []bool{false, true} {
		if well {
			for _, i := range g.Images {
				s.Images = append(s.Images, critest.Image(i.ID, 1000, i.Names...))
			}
		}
		if err := n.AfterBoot(t.Context()); err != nil {
			t.Fatal(err)
		}
		status, err := LoadStatus(n.host)
		if err != nil || status.Generation != g.N || status.Well() != well || status.Verified.IsZero() == well {
			t.Errorf("well is to be %t: %v, %+v", well, err, status)
		}
		if _, before, err := p.Previous(); err != nil || before == well {
			t.Errorf("well is to be %t: the generation before is there: %t, %v", well, before, err)
		}
	}
}

// TestNothingIsLeftOverWithoutTheCluster: who needs what is not known then.
func TestNothingIsLeftOverWithoutTheCluster(t *testing.T) {
	if l, err := opened(t, critest.Start(t)).Leftovers(t.Context()); code(err) != "CTR-UNRD" {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestAskedRehearsalIsTheOneOnDisk: whoever asked knows the rehearsal of later by when it was asked for.
func TestAskedRehearsalIsTheOneOnDisk(t *testing.T) {
	m, boot, _ := rehearsing(t, "")
	boot("one")
	api, c := kubetest.New(t)
	for name, ready := range map[string]string{"app": "True", "lost": "False"} {
		api.Put("/api/v1/namespaces/plant/pods/"+name, `{"metadata":{"name":"`+name+`","namespace":"plant"},"status":{"conditions":[{"type":"Ready","status":"`+ready+`"}]}}`)
	}
	at := time.Date(2026, time.November, 20, 4, 4, 5, 6, time.FixedZone("CET", 3600))
	n := &Node{host: m, kube: c, now: func() time.Time { return at }}
	r, err := n.AskRehearsal(t.Context(), &Wanted{Images: []Image{{Names: []string{"a:1"}, Need: "boot", BootCritical: true}, {Names: []string{"b:1"}, Need: "spare"}}})
	if err != nil || len(r.Pods) != 1 || r.Pods[0] != "plant/app" || len(r.Needs) != 1 || r.Needs[0].Image != "a:1" || !r.Needs[0].Critical {
		t.Fatalf("%v, %+v", err, r)
	}
	kept, err := LoadRehearsal(m)
	if was, is := r.Asked.Format(time.RFC3339Nano), kept.Asked.Format(time.RFC3339Nano); err != nil || was != is || kept.Over() || kept.Running() {
		t.Errorf("%v, asked %s, kept %s: %+v", err, was, is, kept)
	}
}
