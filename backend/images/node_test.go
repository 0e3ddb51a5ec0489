package images

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/wanted"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/message"
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

// booted is a node with a seeded store, which CRI-O does not list yet.
func booted(t *testing.T) (*critest.Server, *layerstore.Store, *Node) {
	t.Helper()
	s := critest.Start(t)
	storeOf(t, s.Root, "a", "b")
	p := seed(t, s.Root)
	write(t, s.Root, bootID, "two\n")
	write(t, s.Root, conf, naming)
	write(t, s.Root, "/proc/self/mountinfo", "36 35 8:4 / "+Mount+" ro,relatime - xfs /dev/sda4 rw\n")
	if err := os.Symlink(filepath.Base(StoreDir), filepath.Join(s.Root, Mount)); err != nil {
		t.Fatal(err)
	}
	return s, p, opened(t, s)
}

// TestALookBesideAWipe: the engine removes what Touchdown keeps while the store, which it leaves, is read.
func TestALookBesideAWipe(t *testing.T) {
	s, p, n := booted(t)
	g, err := p.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range g.Images {
		s.Images = append(s.Images, critest.Image(i.ID, 1000, i.Names...))
	}
	if err := os.RemoveAll(n.host.Path(state(""))); err != nil {
		t.Fatal(err)
	}
	status, err := n.Look(t.Context(), Look{Full: true})
	if err != nil || !status.Well() || status.Verified.IsZero() || len(Notices(n.host)) > 0 || !n.host.Exists(state("verified.jsonl")) {
		t.Errorf("%v, %+v, every screen says %q", err, status, Notices(n.host))
	}
}

// TestALookThatFails is explained, and told also where not even the generation in force can be read: that is not a node without a store.
func TestALookThatFails(t *testing.T) {
	_, p, n := booted(t)
	g, err := p.Current()
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.Root(g.N), "manifest.json", "")
	status, err := n.Look(t.Context(), Look{})
	told := Notices(n.host)
	if err != nil || status.Generation != 0 || len(told) != 1 || told[0].String() != "Image store: The image store cannot be looked through to its end. "+lookFix {
		t.Errorf("%v, %+v, every screen says %q", err, status, told)
	}
	if c := status.Checks()[0]; c.Status != check.Fail || c.Fix.String() != lookFix || len(c.Evidence) != 1 || !strings.Contains(c.Evidence[0].String(), "reading generation") {
		t.Errorf("%+v", c)
	}
	status.Fix = message.Text{} // of a release that kept none
	if told := status.notice().String(); told != "Image store: The image store cannot be looked through to its end. Run `touchdown images verify` while a registry can be reached." {
		t.Errorf("%q", told)
	}
}

const lookFix = "Reboot the node, which brings the store in order; if it stays so, make a support bundle and call support."

// TestAfterBoot: a boot in which CRI-O lacks an image is kept for the screens, and the generation before stays; one in which all is
// well reads each byte and lets it go.
func TestAfterBoot(t *testing.T) {
	s, p, n := booted(t)
	g, err := p.Current()
	if err != nil {
		t.Fatal(err)
	}
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

// TestRehearsalOfAListWithoutItsSources: a rehearsal of what is only half known would pass without what is not known. What is not
// understood of the node's own files is not understood the next time either, and keeps nobody from rehearsing.
func TestRehearsalOfAListWithoutItsSources(t *testing.T) {
	m, boot, _ := rehearsing(t, "")
	boot("one")
	_, c := kubetest.New(t)
	n := &Node{host: m, kube: c, now: time.Now}
	for source, want := range map[string]string{"cluster": "CTR-UNRD", "pods": "CTR-UNRD", "crio": "CTR-UNRD", "not understood": "", "release": ""} {
		list := &Wanted{Unread: []wanted.Unread{{Source: "release"}, {Source: "crio", Reason: message.T("not understood")}}}
		if source != "not understood" {
			list.Fail(source, errors.New("no answer"))
		}
		_, err := n.AskRehearsal(t.Context(), list)
		if (err != nil) != (want != "") || err != nil && code(err) != want {
			t.Errorf("without %s: %v", source, err)
		}
	}
}

// TestFailedRehearsalsPodsAreAskedForAgain: right after a rehearsal that failed the API reports the culprit as not ready. It stays among
// those that have to come back, as long as the cluster has it and the store holds the same images.
func TestFailedRehearsalsPodsAreAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		last string
		want string
	}{
		"the first":               {``, "plant/app"},
		"one that failed":         {`{"phase":"over","generation":1,"finished":true,"notReady":["plant/lost: x"],"pods":["plant/app","plant/lost","plant/gone","plant/ended","plant/going"]}`, "plant/app plant/lost"},
		"one that was cut short":  {`{"phase":"over","generation":1,"pods":["plant/lost"]}`, "plant/app plant/lost"},
		"one that passed":         {`{"phase":"over","generation":1,"finished":true,"pods":["plant/lost"]}`, "plant/app"},
		"one of other images":     {`{"phase":"over","generation":7,"pods":["plant/lost"]}`, "plant/app"},
		"one that is not to read": {`{"phase":`, "plant/app"},
	} {
		m, boot, _ := rehearsing(t, "")
		boot("one")
		if c.last != "" {
			if err := m.WriteFile(rehearsalFile, []byte(c.last), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		api, cluster := kubetest.New(t)
		for pod, is := range map[string][3]string{"app": {"", "Running", "True"}, "lost": {"", "Pending", "False"}, "ended": {"", "Failed", "False"}, "going": {`"deletionTimestamp":"2026-11-20T04:04:05Z",`, "Pending", "False"},
			"still": {`"deletionTimestamp":"2026-11-20T04:04:05Z",`, "Running", "True"}} {
			api.Put("/api/v1/namespaces/plant/pods/"+pod, `{"metadata":{`+is[0]+`"name":"`+pod+`","namespace":"plant"},"status":{"phase":"`+is[1]+`","conditions":[{"type":"Ready","status":"`+is[2]+`"}]}}`)
		}
		r, err := (&Node{host: m, kube: cluster, now: time.Now}).AskRehearsal(t.Context(), &Wanted{})
		if got := strings.Join(r.Pods, " "); err != nil || got != c.want {
			t.Errorf("after %s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}
