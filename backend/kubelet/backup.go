package kubelet

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"touchdown/backend/message"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/problem"
)

const (
	// Kept is where the backup lies once people may use the cluster. It goes back only where a person says so, who is told what
	// that takes from the cluster.
	Kept = layout.ClusterBackup + "-before-landing"
	// Damaged is where files of the database go that cannot be read, as with OpenShift's own cluster-restore.sh, which removes what
	// lies there already; here nothing is removed.
	Damaged = "/var/lib/etcd-backup"
	// Torn is the code of the problem that etcd does not start because its files are damaged.
	Torn = "ETC-TORN"

	hostname = "/etc/hostname"
	database = "/var/lib/etcd/member"
	// spare is left on the disk beside a backup, in bytes: the cluster starts in it.
	spare = 1 << 30
)

// whole is what goes back together: the database; the static pods and what they read, which the database names by revision
// (bindata/etcd/cluster-backup.sh and cluster-restore.sh of OpenShift's cluster-etcd-operator, release-4.14 to release-4.22, take the
// same two; quorum-restore.sh, from release-4.18 on, starts from the database that is there, so that it does not help here); and the
// kubelet's certificates, since an older database may not know the signer of newer ones. Those scripts begin with a snapshot of an etcd
// that runs, and bring it back by a pod; a cluster of which nothing runs can be copied as it is, and needs no image to come back.
// As for the rest, the Machine Config Daemon believes its file on the disk more than the Node (pkg/daemon/daemon.go of the
// machine-config-operator, release-4.14 to release-4.21).
var whole = []string{
	database, "/var/lib/etcd/revision.json", "/etc/kubernetes/manifests", "/etc/kubernetes/static-pod-resources",
	"/var/lib/kubelet/pki", "/var/lib/kubelet/kubeconfig",
}

// Save makes a backup of a cluster of which nothing runs, in place of an older one. On a file system that shares blocks (XFS) it
// takes no time and no room. A loss of power leaves a whole backup or none.
func Save(ctx context.Context, m *host.Machine) error {
	const fresh = layout.ClusterBackup + ".new"
	if err := removeAll(ctx, m, fresh, layout.ClusterBackup); err != nil {
		return err
	}
	var there []string
	for _, p := range append([]string{hostname}, whole...) {
		if m.Exists(p) {
			there = append(there, p)
		}
	}
	if err := fits(ctx, m, there); err != nil {
		return err
	}
	for _, argv := range [][]string{
		{"mkdir", "--parents", "--mode=0700", fresh},
		append([]string{"cp", "--archive", "--reflink=auto", "--parents", "--target-directory=" + fresh}, there...),
		{"sync", "--file-system", fresh},
		{"mv", "--no-target-directory", fresh, layout.ClusterBackup},
		{"sync", "--file-system", path.Dir(layout.ClusterBackup)},
	} {
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("making a backup of the cluster: %w", err)
		}
	}
	return nil
}

// fits tells whether the disk has room for a backup that shares no blocks.
func fits(ctx context.Context, m *host.Machine, paths []string) error {
	out, err := m.Run(ctx, append([]string{"du", "--summarize", "--total", "--block-size=1"}, paths...)...)
	if err != nil {
		return fmt.Errorf("measuring the cluster's state: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	total, _, _ := strings.Cut(lines[len(lines)-1], "\t")
	size, err := strconv.ParseInt(total, 10, 64)
	if err != nil {
		return fmt.Errorf("measuring the cluster's state: %w", err)
	}
	free, err := m.Free(path.Dir(path.Dir(layout.ClusterBackup)))
	if err != nil {
		return fmt.Errorf("measuring the disk: %w", err)
	}
	if free < size+spare {
		return fmt.Errorf("%d MB are free on /var, and a backup needs %d", free>>20, (size+spare)>>20)
	}
	return nil
}

// Drop removes a backup that its cluster is about to outgrow.
func Drop(ctx context.Context, m *host.Machine) error {
	if !m.Exists(layout.ClusterBackup) {
		return nil
	}
	return removeAll(ctx, m, layout.ClusterBackup)
}

// Restorable tells whether the backup in the folder from fits the machine: one of a node with another name does not.
func Restorable(m *host.Machine, from string) bool {
	before, err := m.ReadFile(from + hostname)
	now, errNow := m.ReadFile(hostname)
	return m.Exists(from+database) && string(before) == string(now) && (err == nil) == (errNow == nil)
}

// Restore stops the cluster and puts the backup in the folder from back. The damaged database is kept, and the backup too. It closes
// the kubelet's gate, so that a loss of power leaves a node that does not start what is half there: then Restore is called again.
func Restore(ctx context.Context, m *host.Machine, from string) error {
	if err := Hold(ctx, m); err != nil {
		return err
	}
	if err := putAside(ctx, m); err != nil {
		return err
	}
	for _, p := range whole {
		if err := putBack(ctx, m, from, p); err != nil {
			return &problem.Problem{
				Code: "ETC-BACK", Summary: message.T("The backup of the cluster cannot be put back."), Fix: message.T("Retry; if it fails again, make a support bundle and call support."), Err: err,
			}
		}
	}
	return nil
}

// putAside keeps the database that is there, and what etcd has said of it: its next start is judged by new words alone. After a loss
// of power in the middle of Restore that is the backup's again, which costs a little room and spares the question whether it is.
func putAside(ctx context.Context, m *host.Machine) error {
	steps := [][]string{{"mkdir", "--parents", "--mode=0700", Damaged}}
	if m.Exists(database) {
		steps = append(steps, []string{"mv", "--no-target-directory", database, aside(m, 1)}, []string{"sync", "--file-system", Damaged})
	}
	if said := logs(m, etcd); len(said) > 0 {
		steps = append(steps, append([]string{"mv", "--backup=numbered", "--target-directory=" + Damaged}, said...))
	}
	for _, argv := range steps {
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("keeping the damaged database: %w", err)
		}
	}
	return nil
}

// aside is the first free name for a damaged database, from number n on.
func aside(m *host.Machine, n int) string {
	name := path.Join(Damaged, path.Base(database))
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	if m.Exists(name) {
		return aside(m, n+1)
	}
	return name
}

// putBack makes one path what it is in the backup. It is whole on the disk before it takes its place.
func putBack(ctx context.Context, m *host.Machine, from, p string) error {
	fresh := p + ".touchdown"
	if err := removeAll(ctx, m, fresh); err != nil {
		return err
	}
	if !m.Exists(from + p) {
		return removeAll(ctx, m, p)
	}
	for _, argv := range [][]string{
		{"cp", "--archive", "--reflink=auto", "--no-target-directory", from + p, fresh},
		{"sync", "--file-system", fresh},
		{"rm", "--recursive", "--force", p},
		{"mv", "--no-target-directory", fresh, p},
		{"sync", "--file-system", path.Dir(p)},
	} {
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("putting %s back: %w", p, err)
		}
	}
	return nil
}

// Keep ends the time in which the backup may be put back: from now on people use the cluster, and it would take from them what
// they have done since.
func Keep(ctx context.Context, m *host.Machine) error {
	if !m.Exists(layout.ClusterBackup) {
		return nil
	}
	if err := removeAll(ctx, m, Kept); err != nil {
		return err
	}
	for _, argv := range [][]string{{"mv", "--no-target-directory", layout.ClusterBackup, Kept}, {"sync", "--file-system", path.Dir(Kept)}} {
		if _, err := m.Run(ctx, argv...); err != nil {
			return fmt.Errorf("keeping the backup of the cluster: %w", err)
		}
	}
	return nil
}

func removeAll(ctx context.Context, m *host.Machine, paths ...string) error {
	if _, err := m.Run(ctx, append([]string{"rm", "--recursive", "--force"}, paths...)...); err != nil {
		return fmt.Errorf("removing an old backup: %w", err)
	}
	return nil
}
