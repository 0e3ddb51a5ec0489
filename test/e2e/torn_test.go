package e2e

import (
	"strings"
	"testing"
	"time"

	"touchdown/backend/kubelet"
	"touchdown/test/bench/landing"
)

// likePods makes the bench's control plane, which is a service, what static pods are to a backup: its database lies where
// etcd's does, it ends with the node's containers and does not start behind a closed gate, it is started again for ever, and what it says
// is in a pod's log. The pod that stands for etcd otherwise, and says nothing, goes.
const likePods = `set -e
rm /etc/kubernetes/manifests/etcd-pod.yaml
mkdir -p -m 0700 /var/lib/etcd
mv /var/lib/bench/controlplane/etcd/member /var/lib/etcd/ && rmdir /var/lib/bench/controlplane/etcd
ln -s /var/lib/etcd /var/lib/bench/controlplane/etcd
mkdir -p /etc/systemd/system/{controlplane,kubelet}.service.d
cat > /etc/systemd/system/controlplane.service.d/20-pod.conf <<'END'
[Unit]
ConditionPathExists=!/var/lib/touchdown/armed
StartLimitIntervalSec=0
[Service]
ExecStopPost=/bin/bash -c 'dir=/var/log/pods/openshift-etcd_etcd-sno-factory_bench/etcd; mkdir -p $$dir; n=$$(ls $$dir | grep -c .); \
	grep -a -E "^(panic: |[{].level)" /var/lib/bench/controlplane/logs/serve.log | tail -3 | sed "s/^/$$(date -uIns) stderr F /" > $$dir/$$n.log; \
	truncate -s 0 /var/lib/bench/controlplane/logs/serve.log'
END
cat > /etc/systemd/system/kubelet.service.d/20-pod.conf <<'END'
[Service]
ExecStopPost=/usr/bin/systemctl stop controlplane.service
END
systemctl daemon-reload
`

// tear damages the database as a disk does that lost what it had promised to keep, and takes the power away.
func (f *trip) tear() {
	f.t.Helper()
	f.shell("systemctl kill --signal=KILL controlplane; dd if=/dev/zero of=/var/lib/etcd/member/snap/db bs=4096 count=2 conv=notrunc,fsync status=none")
	f.must(f.Node.PowerCut(f.ctx, true))
	f.must(f.Node.Boot(f.ctx))
}

// TestTornDatabase cuts the power while the cluster's names are moved, and damages the database. The backup made before the
// cluster was started brings it back: for an undo, and for a landing that goes on with nobody there.
func TestTornDatabase(t *testing.T) {
	f := newTrip(t, 10*time.Minute, landing.Options{})
	f.collecting()
	f.shell(likePods)

	f.must(f.Begin(f.ctx, static(calls)))
	f.working("domain")
	f.tear()
	f.question("cluster-restore", "stop")
	f.fails(kubelet.Torn)
	if out, code, err := f.Touchdown(f.ctx, "undo", "--force"); err != nil || code != 0 {
		t.Fatalf("undo: exit %d, %v\n%s", code, err, out)
	}
	f.factoryAgain()

	go func() { _, _, _ = f.Apply(f.ctx, static(calls)) }() // it goes with the power
	f.working("domain")
	torn := f.shell("cat /var/lib/touchdown/cluster-backup/etc/hostname && rm -r /var/lib/etcd-backup && hostname")
	if lines := strings.Fields(torn); len(lines) != 2 || lines[0] != lines[1] {
		t.Errorf("the backup is of %q", torn)
	}
	f.tear()
	f.lands() // nobody attends, and the default is to go on
	if left := f.shell("ls /var/lib/etcd-backup /var/lib/touchdown | grep -E 'member|cluster-backup'"); left != "member\ncluster-backup-before-landing" {
		t.Errorf("what is kept: %s", left)
	}
}
