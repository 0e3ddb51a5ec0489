package wanted

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
)

// told are the uses of a gathering as lines, sorted.
func told(g *gathering) []string {
	var all []string
	for _, u := range g.uses {
		line := fmt.Sprintf("%s: %s %s", u.name, u.Need, u.Who)
		if u.Always != "" {
			line += " always " + u.Always
		}
		all = append(all, line)
	}
	return distinct(all)
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func link(t *testing.T, m *hosttest.Fake, to, path string) {
	t.Helper()
	m.File(path+".dir", "")
	if err := os.Remove(m.Path(path + ".dir")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, m.Path(path)); err != nil {
		t.Fatal(err)
	}
}

func newGathering() *gathering {
	return &gathering{seen: map[string]string{}, components: map[string]string{}}
}

func TestUnits(t *testing.T) {
	m := hosttest.New(t)
	run := func(image string) string {
		return "[Service]\nExecStart=/usr/bin/podman run --rm \\\n  " + image + " x\n"
	}
	enable := func(name, target string) {
		m.File(unitDir+"/"+target+"/"+name, "")
	}
	m.File(unitDir+"/enabled.service", run("r.example/enabled:1"))
	enable("enabled.service", "kubelet-dependencies.target.requires")
	m.File(unitDir+"/disabled.service", run("r.example/disabled:1"))
	m.File(unitDir+"/triggered.service", run("r.example/triggered:1"))
	m.File(unitDir+"/triggered.path", "")
	m.File(unitDir+"/first.service", "ConditionPathExists=/etc/ignition-machine-config-encapsulated.json\n"+run("r.example/first:1"))
	enable("first.service", "multi-user.target.wants")
	m.File(unitDir+"/once.service", "ConditionPathExists=!/var/done\n"+run("r.example/once:1"))
	enable("once.service", "multi-user.target.wants")
	m.File(unitDir+"/instance@.service", run("r.example/instance:1"))
	enable("instance@eth0.service", "multi-user.target.wants")
	m.File(unitDir+"/changed.service", run("r.example/old:1"))
	m.File(unitDir+"/changed.service.d/10.conf", "[Service]\nExecStart=\nEnvironment=\"IMG=r.example/new:1\"\nExecStart=/bin/sh -c 'podman run $IMG'\n")
	enable("changed.service", "multi-user.target.wants")
	m.File(unitDir+"/scripted.service", "[Service]\nEnvironmentFile=-/etc/mine.env\nExecStart=/usr/local/bin/start.sh\nExecStartPre=/usr/local/bin/touchdown engine\n")
	m.File("/etc/mine.env", "FROM_ENV=\"r.example/env:1\"\n")
	m.File("/usr/local/bin/start.sh", "#!/bin/bash\n# podman run r.example/comment:1\nIMAGE=\"r.example/script:1\"\nexport B=$IMAGE\npodman pull $IMAGE\npodman run ${FROM_ENV}\npodman run $LATER\n")
	m.File("/usr/local/bin/touchdown", "\x7fELF\x00podman run r.example/binary:1")
	enable("scripted.service", "multi-user.target.wants")
	link(t, m, "/dev/null", unitDir+"/masked.service")
	m.File(dispatcherDir+"/30-resolv-prepender", "podman run r.example/dispatched:1\n")
	m.File(quadletDir+"/mine.container", "[Container]\nImage=r.example/quadlet:1\n")
	m.File(unitDir+"/huge.service", strings.Repeat("#", fileLimit+1))
	m.File(unitDir+"/garbage.service", "\xff\xfe[[[==\\\n\\\nExecStart=\n=podman run r.example/none:1")
	m.File(unitDir+"/.hidden.service", run("r.example/hidden:1"))
	g := newGathering()
	g.units(m.Machine)
	wantLines(
		t, told(g), "r.example/enabled:1: boot unit enabled.service", "r.example/disabled:1: spare unit disabled.service",
		"r.example/triggered:1: boot unit triggered.service", "r.example/first:1: spare unit first.service", "r.example/once:1: boot unit once.service",
		"r.example/instance:1: boot unit instance@.service", "r.example/new:1: boot unit changed.service", "r.example/script:1: boot unit scripted.service",
		"r.example/env:1: boot unit scripted.service", "r.example/dispatched:1: boot script "+dispatcherDir+"/30-resolv-prepender",
		"r.example/quadlet:1: boot unit mine.container",
	)
	if len(g.unread) != 2 || !strings.Contains(fmt.Sprint(g.unread), "huge.service is larger") || !strings.Contains(fmt.Sprint(g.unread), "only known when it runs") {
		t.Errorf("unread: %v", g.unread)
	}
}

// TestWhatIsNoFileRunsNothing: folders of the dispatcher's and masked units are on every node, and stand in nobody's way.
func TestWhatIsNoFileRunsNothing(t *testing.T) {
	m := hosttest.New(t)
	m.File(dispatcherDir+"/no-wait.d/20-x", "podman run r.example/dispatched:1\n")
	m.File(dispatcherDir+"/pre-up.d/.keep", "")
	link(t, m, "/dev/null", unitDir+"/masked.service")
	g := newGathering()
	g.units(m.Machine)
	if len(g.unread) > 0 {
		t.Errorf("not read: %+v", g.unread)
	}
	wantLines(t, told(g), "r.example/dispatched:1: boot script "+dispatcherDir+"/no-wait.d/20-x")
}

func TestStaticPods(t *testing.T) {
	m := hosttest.New(t)
	pod := func(name, image, policy string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: ns}\nspec:\n  initContainers: [{name: i, image: %s-init}]\n  containers: [{name: c, image: %s%s}]\n", name, image, image, policy)
	}
	m.File(manifestDir+"/etcd-pod.yaml", pod("etcd", "r.example/etcd:1", ""))
	m.File(manifestDir+"/json", `{"kind":"Pod","metadata":{"name":"j"},"spec":{"containers":[{"name":"c","image":"r.example/j"}]}}`)
	m.File(manifestDir+"/always.yaml", pod("a", "r.example/a:1", ", imagePullPolicy: Always"))
	m.File(manifestDir+"/.back-up.yaml", pod("b", "r.example/back-up:1", ""))
	m.File(manifestDir+"/garbage", "}{")
	m.File(manifestDir+"/list", "kind: List\n")
	m.File(manifestDir+"/bomb", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n")
	m.File(manifestDir+"/empty", "")
	m.File(resourcesDir+"/kube-apiserver-pod-9/kube-apiserver-pod.yaml", pod("api", "r.example/old:1", ""))
	m.File(resourcesDir+"/kube-apiserver-pod-10/kube-apiserver-pod.yaml", pod("api", "r.example/new:1", ""))
	g := newGathering()
	g.staticPods(m.Machine)
	wantLines(
		t, told(g), "r.example/etcd:1: boot static pod ns/etcd", "r.example/etcd:1-init: boot static pod ns/etcd",
		"r.example/j: boot static pod default/j always c", "r.example/a:1: boot static pod ns/a always c", "r.example/a:1-init: boot static pod ns/a",
		"r.example/old:1: spare static pod ns/api", "r.example/old:1-init: spare static pod ns/api",
		"r.example/new:1: boot static pod ns/api", "r.example/new:1-init: boot static pod ns/api",
	)
	if len(g.unread) != 3 {
		t.Errorf("unread: %v", g.unread)
	}
}

func TestPauseImageOfTheNextStart(t *testing.T) {
	m := hosttest.New(t)
	m.File(crioConf, "[crio.image]\npause_image = \"r.example/base:1\"\n")
	m.File(crioConfDir+"/00-default", "[crio.image]\npause_image = \"r.example/default:1\"\n")
	m.File(crioConfDir+"/10-broken", "[crio.image\n")
	m.File(crioConfDir+"/99-other", "[crio.runtime]\nlog_level = \"warn\"\n")
	g := newGathering()
	g.pause(t.Context(), Place{Host: m.Machine}, &store{})
	wantLines(t, told(g), "r.example/default:1: boot pause image of CRI-O")
	if len(g.unread) != 1 || !strings.Contains(g.unread[0].Reason.String(), "10-broken") {
		t.Errorf("unread: %v", g.unread)
	}
}
