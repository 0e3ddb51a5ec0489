package seeded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	seed "touchdown/backend/images"
	"touchdown/test/bench/site"
	"touchdown/test/wait"
)

const mountUnit = "var-lib-shared-touchdown.mount"

// otherDisk puts /var/lib/shared on a file system that shares no blocks with the images' and is too small at first.
func (n *seeded) otherDisk() {
	n.Helper()
	n.sh("systemctl stop kubelet crio; systemctl stop " + mountUnit + `
mount -t tmpfs -o size=1g,nr_inodes=3000,mode=755 shared /var/lib/shared
systemd-tmpfiles --create --prefix=/var/lib/shared
systemctl start crio; systemctl start --no-block kubelet
crictl pull ` + n.folder.Images[onlyInStore].Names[0]) // an earlier part left it to the store alone
	n.refused("no inodes", func() {}, "STR-SPCE", "free are")
	n.sh("mount -o remount,size=40m,nr_inodes=1000000 /var/lib/shared")
	n.refused("no space", func() {}, "STR-SPCE", "free are")
	n.sh("mount -o remount,size=1g /var/lib/shared")
	n.vanishes(40)
	n.well("copied without shared blocks")
	n.liar(40)
	n.faithful()
	n.sh("systemctl stop kubelet crio; systemctl stop " + mountUnit + "; umount -l /var/lib/shared; systemctl start " + mountUnit + " crio; systemctl start --no-block kubelet")
}

// vanishes removes an image while the seeding copies: it takes what is there then.
func (n *seeded) vanishes(number int) {
	n.Helper()
	id := n.folder.Images[number].ID.Encoded()
	cmd, err := n.node.Command(n.ctx, "bash", "-c", "touchdown images seed > /var/tmp/seed.log 2>&1 & wait $!")
	n.must(err)
	n.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pattern := n.path(seed.StoreDir, "overlay", "*.part")
	for copying := false; !copying; {
		select {
		case err := <-ended:
			n.Fatalf("it ended before it copied anything: %v\n%s", err, n.sh("cat /var/tmp/seed.log"))
		case <-time.After(time.Millisecond): // a copy takes only some of them; its end ends this
			found, _ := filepath.Glob(pattern)
			copying = len(found) > 0
		}
	}
	const pid = "$(pidof -s -o $(systemctl show -P MainPID touchdown-engine) touchdown)"
	n.sh("kill -STOP " + pid + "; crictl rmi " + id + "; kill -CONT " + pid)
	if err := <-ended; err != nil {
		n.Fatalf("a layer that vanished: %v\n%s", err, n.sh("cat /var/tmp/seed.log"))
	}
	if n.store()[id] != nil || len(n.store()) != len(n.primary()) {
		n.Errorf("with an image removed meanwhile the store holds %s, CRI-O's own %s", n.store(), n.primary())
	}
}

// liar wants an image that only the registry has, which lies, then stops in the middle, then does as it should.
func (n *seeded) liar(number int) {
	n.Helper()
	i := n.folder.Images[number]
	n.deployment(i.Names[0])
	for _, c := range []struct {
		kind site.FaultKind
		says string
	}{{site.Changed, "not what"}, {site.Stops, "breaks off"}} {
		n.site.Registry.Break(site.Fault{Kind: c.kind, Of: site.AnyLayer})
		before, store := n.current(), n.store()
		begun := time.Now()
		out, err := n.touchdown("images", "seed")
		n.site.Registry.ClearFaults()
		n.Logf("the registry's fault %d (%.1f s), %v:\n%s", c.kind, time.Since(begun).Seconds(), err, tail(out))
		if !strings.Contains(out, i.Names[0]) || !strings.Contains(out, "try:") || !strings.Contains(out, "missing") {
			n.Errorf("the registry's fault %d: it does not say what is missing:\n%s", c.kind, out)
		}
		n.untouched(fmt.Sprintf("the registry's fault %d", c.kind), before, store)
	}
	n.run("images", "seed")
	if n.store()[i.ID.Encoded()] == nil {
		n.Errorf("from a registry that does as it should, %s was not seeded", i.Names[0])
	}
}

// deployment makes a workload that wants an image; nobody here makes pods of it.
func (n *seeded) deployment(image string) {
	n.Helper()
	config, err := n.node.Kubernetes()
	n.must(err)
	client, err := kubernetes.NewForConfig(config)
	n.must(err)
	replicas := int32(1)
	labels := map[string]string{"app": "wanting"}
	_, err = client.AppsV1().Deployments("plant").Create(wait.Within(n, time.Minute), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "wanting"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: v1.PodSpec{
				Containers: []v1.Container{{Name: "main", Image: image, ImagePullPolicy: v1.PullIfNotPresent}},
			}},
		},
	}, metav1.CreateOptions{})
	n.must(err)
}

// editedByHand: someone took our store out of storage.conf and put his own in, with a comment.
func (n *seeded) editedByHand() {
	n.Helper()
	const conf, other, note = "/etc/containers/storage.conf", "/srv/other", "# mine, do not touch"
	before, err := n.node.ReadFile(conf)
	n.must(err)
	n.sh("mkdir -p " + other + "; cp -a " + seed.StoreDir + "/generations/0/. " + other + " 2>/dev/null || (cp -a " + seed.StoreDir + "/current/overlay-layers " + seed.StoreDir + "/current/overlay-images " + other + `; echo '[]' | tee ` + other + "/overlay-layers/layers.json > " + other + `/overlay-images/images.json)
rm -f ` + other + "/overlay; mkdir -p " + other + "/overlay/l")
	edited := strings.ReplaceAll(string(before), `"`+seed.Store+`"`, `"`+other+`"`)
	n.must(n.node.WriteFile(conf, []byte(note+"\n"+edited), 0o644))
	n.restart()
	if out, err := n.touchdown("images", "verify", "--quick"); err == nil || !strings.Contains(out, "CRI-O is not told of it") {
		n.Errorf("the look does not say that CRI-O is not told of the store: %v\n%s", err, out)
	}
	out := n.run("images", "seed")
	n.Logf("seeding with the key removed by hand:\n%s", tail(out))
	after, err := n.node.ReadFile(conf)
	n.must(err)
	for _, kept := range []string{note, other, seed.Store} {
		if !strings.Contains(string(after), kept) {
			n.Errorf("storage.conf lacks %s:\n%s", kept, after)
		}
	}
	n.seen("with two additional stores")
	n.must(n.node.WriteFile(conf, before, 0o644))
}

// missingAtBoot: the store is gone with its place, and the node has to come up all the same.
func (n *seeded) missingAtBoot() {
	n.Helper()
	n.sh("systemctl stop kubelet crio; systemctl stop " + mountUnit + "; rm -rf /var/lib/shared; sync")
	n.must(n.node.Reboot(n.ctx))
	n.ready("boot without the store")
	if _, err := os.Lstat(n.path(seed.Store, "overlay-layers/layers.lock")); err != nil {
		n.Errorf("no empty store is in its place: %v", err)
	}
	n.seen("without the store")
	if out, err := n.touchdown("images", "verify", "--quick"); err == nil || !strings.Contains(out, "touchdown images seed") {
		n.Errorf("without the store: %v\n%s", err, out)
	}
	n.run("images", "seed")
}
