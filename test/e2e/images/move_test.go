package images

import (
	"strings"
	"testing"
	"time"

	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
)

// TestMove renames the layers of the primary store into the image store while containers run from them.
func TestMove(t *testing.T) {
	n := startStocked(t)
	n.pullsGoWrong()
	before, running := n.list(), n.containers()
	layers, images := n.primary()
	old := n.sh("crictl pods | grep app-0 | cut -d' ' -f1")
	n.prepare()
	n.sh("systemctl stop kubelet crio")
	begun := time.Now()
	n.intoStore(layers, true)
	t.Logf("%d layers moved in %s", len(layers), time.Since(begun))
	n.generation(1, layers, images, node.Graphroot)

	// As after a cut in the middle: the records are in both stores, the layers only in the image store.
	n.sh("systemctl start var-lib-shared-touchdown.mount crio")
	if got := n.list(); len(got) != 2*len(before) {
		t.Errorf("with the records in both stores %d images are listed, before %d", len(got), len(before))
	}
	n.allResolve()
	n.await(running)
	if mount := n.run(n.named(35)); !strings.Contains(mount, store) {
		t.Errorf("a new container is not from the store: %s", mount)
	}

	n.sh("systemctl stop crio")
	n.forget(layers, images)
	n.sh("systemctl start crio")
	if diff := differ(before, n.list()); diff != "" {
		t.Errorf("listed before and after the move: %s", diff)
	}
	n.allResolve()
	n.await(running)
	if err := n.remove(n.named(36)); err == nil || !strings.Contains(err.Error(), "identifier is not an image") {
		t.Errorf("removing an image of the store: %v", err)
	}
	n.run(deep)
	n.sh("crictl rmp " + old + "; systemctl start kubelet")
	n.await(running)
	n.cut(false)
	n.allResolve()
}

// pullsGoWrong removes images and pulls them from a registry that does not do as it should. At the end all are there again.
func (n *stocked) pullsGoWrong() {
	n.Helper()
	for _, c := range []struct {
		number int
		fault  site.Fault
		want   string // of the error; empty: the pull goes well all the same
	}{
		{30, site.Fault{Kind: site.Changed, Of: site.AnyLayer, Times: 1}, "Digest did not match, expected sha256:"},
		{33, site.Fault{Kind: site.Stops, Of: site.AnyLayer, Times: 1}, ""},
		{32, site.Fault{Kind: site.Stops, Of: site.AnyLayer}, "unexpected EOF"},
		{34, site.Fault{Kind: site.Unavailable, Of: site.AnyManifest, Times: 1}, "received unexpected HTTP status: 503"},
		{35, site.Fault{Kind: site.Unknown, Of: site.AnyManifest}, "manifest unknown"},
	} {
		i := n.folder.Images[c.number]
		if err := n.remove(i.ID.Encoded()); err != nil {
			n.Fatal(err)
		}
		if n.status(i.Names[0]) != nil {
			n.Fatalf("%s is still there", i.Names[0])
		}
		n.site.Registry.Break(c.fault)
		err := n.pull(i.Names[0])
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			n.Errorf("pulling %s: %v, want %q", i.Names[0], err, c.want)
		}
		n.site.Registry.ClearFaults()
		if err := n.pull(i.Names[0]); err != nil {
			n.Errorf("pulling %s from a registry that works: %v", i.Names[0], err)
		}
	}
	n.allResolve()
}
