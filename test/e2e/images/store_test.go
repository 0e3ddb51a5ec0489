package images

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"touchdown/test/bench/node"
)

// The layout of the store, made by hand: a store of layers that all generations share, behind one read-only mount.
const (
	hidden = "/var/lib/shared/.touchdown"
	store  = "/var/lib/shared/touchdown"
)

// record is one entry of the library's layers.json or images.json, of which nothing is lost.
type record map[string]json.RawMessage

func (r record) text(key string) string {
	var s string
	_ = json.Unmarshal(r[key], &s)
	return s
}

// primary is what CRI-O's own store holds.
func (n *stocked) primary() (layers, images []record) {
	n.Helper()
	must(n, json.Unmarshal(read(n, n.path(node.Graphroot, "overlay-layers/layers.json")), &layers))
	must(n, json.Unmarshal(read(n, n.path(node.Graphroot, "overlay-images/images.json")), &images))
	return layers, images
}

// prepare makes the mount, and beneath it an empty store; nothing of it is active yet.
func (n *stocked) prepare() {
	n.Helper()
	n.sh("mkdir -p -m 700 " + hidden + "/overlay/l " + hidden + "/generations")
	metadata(n, n.path(store, "current"), nil, nil)
	must(n, os.Mkdir(n.path(store, "current", "overlay"), 0o700))
	n.write("/etc/systemd/system/var-lib-shared-touchdown.mount", `[Unit]
Before=crio.service
[Mount]
What=`+hidden+`
Where=`+store+`
Type=none
Options=bind,ro
[Install]
WantedBy=crio.service
`)
	n.sh(`sed -i 's#^additionalimagestores = .*#&"` + store + `/current"#' /etc/containers/storage.conf
systemctl daemon-reload; systemctl enable --quiet var-lib-shared-touchdown.mount`)
}

// metadata writes the records of a store. A new token in the lock files tells a CRI-O that runs that they are others.
func metadata(t testing.TB, dir string, layers, images []record) {
	t.Helper()
	for kind, records := range map[string][]record{"layers": layers, "images": images} {
		in := filepath.Join(dir, "overlay-"+kind)
		must(t, os.MkdirAll(in, 0o700))
		if records == nil {
			records = []record{}
		}
		data, err := json.Marshal(records)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(in, kind+".json"), data, 0o600))
		token := make([]byte, 64)
		_, _ = rand.Read(token)
		must(t, os.WriteFile(filepath.Join(in, kind+".lock"), token, 0o600))
	}
}

// generation writes generation number n of the store and makes it the current one. The records' files come from source.
func (n *stocked) generation(number int, layers, images []record, source string) {
	n.Helper()
	dir := n.path(hidden, "generations", fmt.Sprint(number))
	metadata(n, dir, layers, images)
	must(n, os.Symlink("../../overlay", filepath.Join(dir, "overlay")))
	for _, l := range layers {
		file := "overlay-layers/" + l.text("id") + ".tar-split.gz"
		must(n, os.WriteFile(filepath.Join(dir, file), read(n, n.path(source, file)), 0o600))
	}
	for _, i := range images {
		folder := "overlay-images/" + i.text("id")
		must(n, os.CopyFS(filepath.Join(dir, folder), os.DirFS(n.path(source, folder))))
	}
	n.switchTo(number)
}

func (n *stocked) switchTo(number int) {
	n.Helper()
	n.sh(fmt.Sprintf("cd %s; ln -sfn generations/%d current.new; mv -T current.new current; sync -f .", hidden, number))
}

// intoStore puts the folder of each layer into the image store: by renaming, or as a clone.
func (n *stocked) intoStore(layers []record, move bool) {
	n.Helper()
	for _, l := range layers {
		id := l.text("id")
		from, to := filepath.Join(node.Graphroot, "overlay", id), filepath.Join(hidden, "overlay", id)
		link := string(read(n, n.path(from, "link")))
		if move {
			must(n, os.Rename(n.path(from), n.path(to)))
		} else {
			n.sh(fmt.Sprintf("mkdir -p %s.part; cp -a --reflink=always %s/* %s.part/; mv -T %s.part %s", to, from, to, to, to))
		}
		must(n, os.Symlink("../"+id+"/diff", n.path(hidden, "overlay/l", link)))
	}
}

// forget takes the records of the primary's images and layers away, and the files that belong to them.
func (n *stocked) forget(layers, images []record) {
	n.Helper()
	metadata(n, n.path(node.Graphroot), nil, nil)
	for _, l := range layers {
		must(n, os.Remove(n.path(node.Graphroot, "overlay-layers", l.text("id")+".tar-split.gz")))
	}
	for _, i := range images {
		must(n, os.RemoveAll(n.path(node.Graphroot, "overlay-images", i.text("id"))))
	}
}
