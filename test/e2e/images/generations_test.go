package images

import (
	"os"
	"strings"
	"testing"

	"touchdown/test/bench/node"
)

// TestGenerations runs a node from generations of one store of layers, with an empty primary store.
func TestGenerations(t *testing.T) {
	n := startStocked(t)
	before, running := n.list(), n.containers()
	layers, images := n.primary()
	n.prepare()
	n.intoStore(layers, false)
	n.generation(1, layers, images, node.Graphroot)
	n.sh(`systemctl stop kubelet; crictl rmp $(crictl pods | cut -d' ' -f1); systemctl stop crio
rm -rf ` + node.Graphroot + `; systemctl start var-lib-shared-touchdown.mount crio`)

	if diff := differ(before, n.list()); diff != "" {
		t.Errorf("listed before and from the store: %s", diff)
	}
	n.allResolve()
	mount := n.run(deep)
	if used := strings.Count(mount, store+"/current/overlay/l/"); used != 45 {
		t.Errorf("%d layers of the store in the mount of the deep image: %s", used, mount)
	}
	if len(mount) >= os.Getpagesize() {
		t.Errorf("the mount of the deep image has %d bytes, a page holds %d", len(mount), os.Getpagesize())
	}
	n.sh("systemctl start --no-block kubelet")
	n.liveSwitch(layers, images)
	n.blockedAndPinned()
	n.await(running)
	n.cuts()
	n.await(running)
	n.failedMount()
}

// liveSwitch makes a second generation current under a CRI-O that runs: one image less, one name more.
func (n *stocked) liveSwitch(layers, images []record) {
	n.Helper()
	gone, more := n.named(33), "registry.example.net/one/more:name"
	var others []record
	for _, i := range images {
		if i.text("id") == n.folder.Images[33].ID.Encoded() {
			continue
		}
		if i.text("id") == n.folder.Images[34].ID.Encoded() {
			i = record{}.with(i, "names", `["`+n.named(34)+`","`+more+`"]`)
		}
		others = append(others, i)
	}
	n.generation(2, layers, others, hidden+"/generations/1")
	if n.status(gone) != nil || n.status(more) == nil {
		n.Errorf("after the switch: %s %v, %s %v", gone, n.status(gone), more, n.status(more))
	}
	n.run(more)
	n.switchTo(1)
	n.allResolve()
}

// with is a copy of a record with one field changed.
func (r record) with(other record, key, value string) record {
	for k, v := range other {
		r[k] = v
	}
	r[key] = []byte(value)
	return r
}

// blockedAndPinned blocks the registry and pins images, by files that CRI-O reads again when it is told to.
func (n *stocked) blockedAndPinned() {
	n.Helper()
	n.write("/etc/containers/registries.conf.d/99-blocked.conf", "[[registry]]\nprefix = \"registry.example.net\"\nlocation = \"registry.example.net\"\nblocked = true\n")
	n.write("/etc/crio/crio.conf.d/50-pinned.conf", "[crio.image]\npinned_images = [\""+n.named(40)+"\", \""+n.folder.Images[3].ByDigest()+"\"]\n")
	asked := n.site.Registry.Served().Requests
	n.sh("systemctl reload crio; for i in $(seq 50); do crictl inspecti " + n.named(40) + " | grep -q '\"pinned\": true' && exit; sleep 0.1; done; exit 1")
	for _, name := range []string{n.named(41), "registry.example.net/none:1"} {
		if err := n.pull(name); err == nil || !strings.Contains(err.Error(), "registry registry.example.net is blocked") {
			n.Errorf("pulling %s from a blocked registry: %v", name, err)
		}
	}
	if got := n.site.Registry.Served().Requests; got != asked {
		n.Errorf("the blocked registry was asked %d times", got-asked)
	}
	if !n.status(n.folder.Images[3].ByDigest()).Pinned || n.status(n.named(41)).Pinned {
		n.Error("not the pinned images are pinned")
	}
	n.run(n.named(41))
	n.sh("rm /etc/containers/registries.conf.d/99-blocked.conf /etc/crio/crio.conf.d/50-pinned.conf; systemctl reload crio")
}

// cuts takes the power away with containers running from the store: by default CRI-O then empties its own store; without
// its repair it keeps it. Either way all pods come back.
func (n *stocked) cuts() {
	n.Helper()
	const only = "localhost/only/primary:1"
	put := "imagestore " + node.Graphroot + " /usr/local/bin/crun-wrap " + only + "; sync"
	n.sh(put)
	n.cut(false)
	if n.status(only) != nil {
		n.Error("the image of the primary store survived a repair: is there still a reason to switch it off?")
	}
	n.allResolve()
	n.write("/etc/crio/crio.conf.d/10-repair.conf", "[crio]\ninternal_repair = false\n")
	n.sh("systemctl restart crio; " + put)
	n.cut(true)
	if n.status(only) == nil {
		n.Error("without repair the image of the primary store is gone")
	}
	n.allResolve()
}

// failedMount starts CRI-O where the mount is missing: it finds an empty store, and lists its own.
func (n *stocked) failedMount() {
	n.Helper()
	n.sh("systemctl stop kubelet crio; systemctl disable --quiet var-lib-shared-touchdown.mount; systemctl stop var-lib-shared-touchdown.mount; systemctl start crio")
	if got := n.list(); len(got) != 1 {
		n.Errorf("without the mount CRI-O lists %d images", len(got))
	}
}
