package wanted

import (
	"slices"
	"strings"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/images/ref"
)

var sha = "@sha256:" + strings.Repeat("c0", 32)

func TestPodmanLines(t *testing.T) {
	for _, c := range []struct {
		line    string
		images  []string
		unclear bool
	}{
		{`/bin/bash -c " until /usr/bin/podman run --rm --authfile /var/lib/kubelet/config.json --env 'ENABLE_NODEIP_DEBUG=true' --net=host --volume /etc/systemd/system:/etc/systemd/system quay.io/a/b` + sha + ` node-ip set --network-type OVNKubernetes ${NODEIP_HINT:-${KUBELET_NODEIP_HINT:-}}; do sleep 5; done"`, []string{"quay.io/a/b" + sha}, false},
		{`/bin/sh -c "while ! /usr/bin/podman pull $(cat /tmp/podman_policy_args) --authfile=/var/lib/kubelet/config.json 'quay.io/mco` + sha + `'; do sleep 1; done"`, []string{"quay.io/mco" + sha}, false},
		{`/usr/bin/podman run --rm --privileged --net=host -v /:/rootfs  --entrypoint machine-config-daemon 'r.example:5000/mco:v4' firstboot-complete-machineconfig --persist-nics`, []string{"r.example:5000/mco:v4"}, false},
		{`if ! /usr/bin/podman image exists "quay.io/a` + sha + `"; then`, nil, false},
		{`NAMESERVER_IP="$(/usr/bin/podman run --rm --net=host quay.io/a` + sha + ` node-ip show "192.0.2.1" )"`, []string{"quay.io/a" + sha}, false},
		{`podman pull quay.io/a:1 && podman run localhost/b:2; podman image pull quay.io/c:3`, []string{"quay.io/a:1", "localhost/b:2", "quay.io/c:3"}, false},
		{`podman run --rm $IMAGE sleep`, []string{"quay.io/known:1"}, false},
		{`podman run --rm ${OTHER} sleep`, nil, true},
		{`podman run --rm ${OTHER:-quay.io/default:1} sleep`, []string{"quay.io/default:1"}, false},
		{`echo nothing to see`, nil, false},
		{`podman ps --all quay.io/a:1`, nil, false},
		{`podman run --dns 192.0.2.1 --hostname x -p 127.0.0.1:80:80 ../../etc/passwd`, nil, false},
		{strings.Repeat("podman run $X ; ", 50000), nil, true},
		{"podman run \x00\xff$(\x1b[2J quay.io/\x1b[2J:1", nil, true},
	} {
		images, unclear := podman(c.line, map[string]string{"IMAGE": "quay.io/known:1"})
		if !slices.Equal(images, c.images) || unclear != c.unclear {
			t.Errorf("%.100s:\n %v, unclear %v", c.line, images, unclear)
		}
	}
}

// What a unit says, whatever it says, ends and yields nothing but references.
func FuzzUnit(f *testing.F) {
	f.Add("[Service]\nExecStart=/usr/bin/podman run quay.io/a:1\\\n x\nEnvironment=A=b \"C=d\"\n")
	f.Add("ExecStart=\nExecStart=$A ${B:-$C}\n=\n==\n\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		g := &gathering{}
		u := unit{name: "x.service", vars: map[string]string{}}
		m := hosttest.New(t)
		g.parseUnit(m.Machine, &u, text)
		g.unit(m.Machine, u)
		for _, u := range g.uses {
			if r, err := ref.Parse(u.name); err != nil || r.Host == "" {
				t.Errorf("%q was taken for an image", u.name)
			}
		}
	})
}
