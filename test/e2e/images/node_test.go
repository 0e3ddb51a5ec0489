package images

import (
	"fmt"
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

	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

// stocked is a node with the images of the bench, its pods, and the factory's network with a registry.
type stocked struct {
	*testing.T
	node   *node.Machine
	site   *site.Site
	folder *images.Folder
	conn   *grpc.ClientConn
}

func startStocked(t *testing.T) *stocked {
	t.Helper()
	image, err := node.Stocked(wait.Within(t, 8*time.Minute), images.Small)
	node.Require(t, err)
	n := &stocked{T: t, node: node.Start(t, node.Options{Image: image})}
	if n.folder, err = images.Find(images.Small); err != nil {
		t.Fatal(err)
	}
	n.site = site.New(t, site.Options{LAN: n.node.LAN(), Network: site.Factory()})
	n.site.DNS.Record("api-int."+node.Domain, netip.MustParseAddr(node.InternalAddress))
	n.site.Registry.Serve(n.folder)
	n.site.Registry.Set(site.NeedsLogin)
	if err := n.node.UseRegistry(site.RegistryName, n.site.Registry.CA(), site.RegistryUser, site.RegistryPassword); err != nil {
		t.Fatal(err)
	}
	n.ready("first boot")
	return n
}

// ready waits until all pods run, started since the last boot.
func (n *stocked) ready(when string) {
	n.Helper()
	begun := time.Now()
	if err := n.node.PodsReady(wait.Within(n, 2*time.Minute)); err != nil {
		n.Fatalf("%s: %v", when, err)
	}
	n.Logf("%s: all pods ready after %.1f s", when, time.Since(begun).Seconds())
}

// sh runs a script in the node that must succeed.
func (n *stocked) sh(script string) string {
	n.Helper()
	out, err := n.node.Shell(wait.Within(n, 2*time.Minute), "set -e\n"+script)
	if err != nil {
		n.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

// path is a file of the running node as it can be opened from here.
func (n *stocked) path(parts ...string) string {
	n.Helper()
	p, err := n.node.Path(filepath.Join(parts...))
	if err != nil {
		n.Fatal(err)
	}
	return p
}

// cut takes the power away and gives it back.
func (n *stocked) cut(flush bool) {
	n.Helper()
	ctx := wait.Within(n, time.Minute)
	if err := n.node.PowerCut(ctx, flush); err != nil {
		n.Fatal(err)
	}
	if err := n.node.Boot(ctx); err != nil {
		n.Fatal(err)
	}
	n.ready("power cut")
}

// crio is a connection to the node's CRI-O of now.
func (n *stocked) crio() *grpc.ClientConn {
	n.Helper()
	conn, err := grpc.NewClient("unix://"+n.path("/run/crio/crio.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		n.Fatal(err)
	}
	n.Cleanup(func() { conn.Close() })
	return conn
}

// list is what CRI-O lists, one line an image: its ID and all its names.
func (n *stocked) list() []string {
	n.Helper()
	answer, err := cri.NewImageServiceClient(n.crio()).ListImages(n.Context(), &cri.ListImagesRequest{})
	if err != nil {
		n.Fatalf("listing the images: %v", err)
	}
	var lines []string
	for _, i := range answer.Images {
		names := append(slices.Clone(i.RepoTags), i.RepoDigests...)
		slices.Sort(names)
		lines = append(lines, i.Id+" "+strings.Join(names, " "))
	}
	slices.Sort(lines)
	return lines
}

// status is what CRI-O knows of an image; nil: nothing.
func (n *stocked) status(name string) *cri.Image {
	n.Helper()
	answer, err := cri.NewImageServiceClient(n.crio()).ImageStatus(n.Context(), &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: name}})
	if err != nil {
		n.Fatalf("the status of %s: %v", name, err)
	}
	return answer.Image
}

// allResolve asks for every image by each of its names: a listing proves nothing.
func (n *stocked) allResolve() {
	n.Helper()
	for _, i := range n.folder.Images {
		for _, name := range append([]string{i.ByDigest()}, i.Names...) {
			if s := n.status(name); s == nil || s.Id != i.ID.Encoded() {
				n.Errorf("%s is %v, want %s", name, s, i.ID)
			}
		}
	}
}

func (n *stocked) pull(name string) error {
	n.Helper()
	_, err := cri.NewImageServiceClient(n.crio()).PullImage(n.Context(), &cri.PullImageRequest{Image: &cri.ImageSpec{Image: name}})
	return err
}

func (n *stocked) remove(name string) error {
	n.Helper()
	_, err := cri.NewImageServiceClient(n.crio()).RemoveImage(n.Context(), &cri.RemoveImageRequest{Image: &cri.ImageSpec{Image: name}})
	return err
}

// run starts a pod from an image and tells what its mount is made of; the pod goes again.
func (n *stocked) run(image string) (mount string) {
	n.Helper()
	// On a machine that lends no cgroup controllers systemd now and then drops the scope of a container before it runs;
	// a kubelet tries again too.
	pod := n.sh("for i in 1 2 3; do crictl run " + image + " && exit; done; exit 1")
	mount = n.sh(`tac /proc/mounts | grep -m1 '^overlay /var/lib/containers/storage/overlay/'`)
	n.sh("crictl rmp " + pod)
	return mount
}

// containers counts those that run.
func (n *stocked) containers() int {
	n.Helper()
	running := &cri.ContainerStateValue{State: cri.ContainerState_CONTAINER_RUNNING}
	all, err := cri.NewRuntimeServiceClient(n.crio()).ListContainers(n.Context(), &cri.ListContainersRequest{Filter: &cri.ContainerFilter{State: running}})
	if err != nil {
		n.Fatalf("listing the containers: %v", err)
	}
	return len(all.Containers)
}

// await waits until so many containers run.
func (n *stocked) await(running int) {
	n.Helper()
	wait.Until(n, fmt.Sprintf("%d containers", running), func() error {
		if now := n.containers(); now != running {
			return fmt.Errorf("%d containers run", now)
		}
		return nil
	})
}

func (n *stocked) write(name, text string) {
	n.Helper()
	if err := n.node.WriteFile(name, []byte(text), 0o644); err != nil {
		n.Fatal(err)
	}
}

// named is the first name of one of the bench's images.
func (n *stocked) named(number int) string { return n.folder.Images[number].Names[0] }

const deep = images.Host + "/" + images.DeepName

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return data
}

// differ tells the first difference of two listings.
func differ(before, after []string) string {
	for i := range max(len(before), len(after)) {
		if i >= len(before) || i >= len(after) || before[i] != after[i] {
			return fmt.Sprintf("%d and %d images; from the %dth on they differ", len(before), len(after), i)
		}
	}
	return ""
}
