package seeded

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	seed "touchdown/backend/images"
	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// seeded is a node whose store Touchdown seeded, with its pods running, in the factory's network with a registry.
type seeded struct {
	*testing.T
	ctx    context.Context //nolint:containedctx // the time that the test has; ends with it
	node   *node.Machine
	site   *site.Site
	folder *images.Folder
}

func start(t *testing.T, limit time.Duration) *seeded {
	t.Helper()
	wait.Slow(t)
	ctx := wait.Within(t, limit)
	image, err := node.StockedFactory(ctx, images.Small)
	node.Require(t, err)
	m, err := node.New(ctx, node.Options{Image: image})
	node.Require(t, err)
	n := &seeded{T: t, ctx: ctx, node: m}
	m.EndsWith(t)
	wait.Explain(t, "the units of the image store", m.Says("journalctl -b --no-pager -u crio -u touchdown-images -u touchdown-images-check -u var-lib-shared-touchdown.mount | grep -vE 'Failed to open /etc/|sandbox|onfig'"))
	n.folder, err = images.Find(images.Small)
	n.must(err)
	n.site = site.New(t, site.Options{LAN: m.LAN(), Network: site.Factory()})
	n.site.DNS.Record("api-int."+node.Domain, netip.MustParseAddr(node.InternalAddress))
	n.site.Registry.Serve(n.folder)
	n.must(m.UseRegistry(site.RegistryName, n.site.Registry.CA(), "", ""))
	n.must(m.Program())
	n.must(m.Boot(ctx))
	// It left the factory armed: its gate is opened by hand, and it stays where it is.
	n.sh("rm /var/lib/touchdown/armed; systemctl start --no-block kubelet")
	n.ready("first boot")
	return n
}

func (n *seeded) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

// ready waits until all pods run, started since the last boot.
func (n *seeded) ready(when string) {
	n.Helper()
	begun := time.Now()
	if err := n.node.PodsReady(wait.Within(n, time.Minute)); err != nil {
		n.Fatalf("%s: %v", when, err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		n.Logf("%s: all pods ready after %.1f s", when, took.Seconds())
	}
}

// sh runs a script in the node that must succeed.
func (n *seeded) sh(script string) string {
	n.Helper()
	out, err := n.node.Shell(wait.Within(n, 2*time.Minute), "set -e\n"+script)
	if err != nil {
		n.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// touchdown runs the program and returns what it printed, errors too.
func (n *seeded) touchdown(args ...string) (string, error) {
	n.Helper()
	out, err := n.node.Shell(n.ctx, "exec touchdown "+strings.Join(args, " ")+" 2>&1")
	return out, err
}

// run runs the program, which must succeed.
func (n *seeded) run(args ...string) string {
	n.Helper()
	out, err := n.touchdown(args...)
	if err != nil {
		n.Fatalf("touchdown %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// status is what the last look found; it waits for the units' look after a boot.
func (n *seeded) status() seed.Status {
	n.Helper()
	n.must(n.node.Wait(n.ctx, `! systemctl is-active --quiet touchdown-images-check && test "$(systemctl show -P SubState touchdown-images-check)" != start`))
	var s seed.Status
	n.must(json.Unmarshal([]byte(n.run("images", "status", "-o", "json")), &s))
	return s
}

// path is a file of the running node as it can be opened from here.
func (n *seeded) path(parts ...string) string {
	n.Helper()
	p, err := n.node.Path(filepath.Join(parts...))
	n.must(err)
	return p
}

func (n *seeded) crio() *grpc.ClientConn {
	n.Helper()
	conn, err := grpc.NewClient("unix://"+n.path("/run/crio/crio.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	n.must(err)
	n.Cleanup(func() { conn.Close() })
	return conn
}

// set is images by their id, with their names.
type set map[string][]string

func (s set) String() string { return fmt.Sprintf("%d images", len(s)) }

// with is a set and what others have beside.
func (s set) with(others ...set) set {
	all := maps.Clone(s)
	for _, other := range others {
		for id, names := range other {
			all[id] = append(slices.Clone(all[id]), names...)
		}
	}
	return all
}

func (s set) sameIDs(other set) bool {
	return slices.Equal(slices.Sorted(maps.Keys(s)), slices.Sorted(maps.Keys(other)))
}

// held is what a store of the node holds by its own list.
func (n *seeded) held(root string) set {
	n.Helper()
	all := set{}
	data, err := os.ReadFile(n.path(root, "overlay-images/images.json"))
	if os.IsNotExist(err) {
		return all
	}
	n.must(err)
	var records []struct {
		ID    string
		Names []string
	}
	if len(data) > 0 {
		n.must(json.Unmarshal(data, &records))
	}
	for _, r := range records {
		all[r.ID] = r.Names
	}
	return all
}

func (n *seeded) store() set   { n.Helper(); return n.held(seed.Mount + "/current") }
func (n *seeded) primary() set { n.Helper(); return n.held(node.Graphroot) }

// seen asks CRI-O for its list, and for every image of the two stores by each name: a listing proves nothing. It must be
// what they hold, no more and no less.
func (n *seeded) seen(when string) {
	n.Helper()
	client := cri.NewImageServiceClient(n.crio())
	answer, err := client.ListImages(n.ctx, &cri.ListImagesRequest{})
	if err != nil {
		n.Fatalf("%s: listing the images: %v", when, err)
	}
	listed := set{}
	for _, i := range answer.Images {
		listed[i.Id] = i.RepoTags
	}
	want := n.store().with(n.primary())
	if !listed.sameIDs(want) {
		n.Errorf("%s: CRI-O lists %d images, its two stores hold %d", when, len(listed), len(want))
	}
	for id, names := range want {
		for _, name := range names {
			s, err := client.ImageStatus(n.ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: name}})
			if err != nil || s.Image == nil || want[s.Image.Id] == nil {
				n.Errorf("%s: %s is %v, %v; want %s", when, name, s.GetImage(), err, id)
			}
		}
	}
}

// well makes sure that the node has all that its store holds, and that nothing in it is half made.
func (n *seeded) well(when string) {
	n.Helper()
	n.seen(when)
	if out, err := n.touchdown("images", "verify", "--quick"); err != nil {
		n.Errorf("%s: %v\n%s", when, err, out)
	}
	if left := n.sh("find " + seed.StoreDir + " -xdev -maxdepth 2 '(' -name '*.part' -o -name '*.old' ')'"); left != "" {
		n.Errorf("%s: half made is left: %s", when, left)
	}
}

// containers counts those that run.
func (n *seeded) containers() int {
	n.Helper()
	running := &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}
	all, err := cri.NewRuntimeServiceClient(n.crio()).ListContainers(n.ctx, &cri.ListContainersRequest{Filter: &cri.ContainerFilter{State: running}})
	n.must(err)
	return len(all.Containers)
}

// put puts new images of one layer each into CRI-O's own store, as a pull does, safe from a loss of power.
func (n *seeded) put(names ...string) {
	n.Helper()
	for _, name := range names {
		n.sh("head -c 300000 /dev/urandom > /var/tmp/program; imagestore " + node.Graphroot + " /var/tmp/program " + name)
	}
	n.sh("sync")
}
