package kubelet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	// Kept is where the backup lies once its cluster is in use. Touchdown never puts it back, since that would take from people what
	// they have done since; support finds it there.
	Kept = layout.ClusterBackup + "-before-landing"
	// Damaged is where files of the database go that cannot be read, as with OpenShift's own cluster-restore.sh, which removes what
	// lies there already; here nothing is removed.
	Damaged = "/var/lib/etcd-backup"
	// Torn is the code of the problem that etcd does not start because its files are damaged.
	Torn = "ETC-RENT"

	hostname = "/etc/hostname"
	// kubeconfig is kubelet's own.
	kubeconfig = "/var/lib/kubelet/kubeconfig"
	database   = "/var/lib/etcd/member"
	// outdated is added to the name of a backup that is being removed, so that half of one never counts.
	outdated = ".old"
	// spare is left on the disk beside a backup, in bytes: the cluster starts in it.
	spare = 1 << 30
)

// whole is what goes back together: the database; the static pods and what they read, which the database names by revision
// (bindata/etcd/cluster-backup.sh and cluster-restore.sh of OpenShift's cluster-etcd-operator, release-4.14 to release-4.22, take the
// same two; quorum-restore.sh, from release-4.18 on, starts from the database that is there, so that it does not help here); and the
// kubelet's certificates, since an older database may not know the signer of newer ones. Those scripts begin with a snapshot of an etcd
// that runs, and bring it back by a pod; a stopped cluster is a plain copy of files, and needs no image to come back.
// As for the rest, the Machine Config Daemon believes its file on the disk more than the Node (pkg/daemon/daemon.go of the
// machine-config-operator, release-4.14 to release-4.21).
var whole = []string{
	database, rhcos.Manifests, rhcos.Resources, rhcos.KubeletPKI, kubeconfig,
	revision,
}

// revision is the one part of whole that a cluster may lack.
const revision = "/var/lib/etcd/revision.json"

// Save makes a backup of a cluster of which nothing runs, in place of an older one. On a file system that shares blocks (XFS) it
// takes no time and no room. A loss of power leaves a whole backup or none.
func Save(ctx context.Context, m *host.Machine) error {
	const fresh = layout.ClusterBackup + ".new"
	if missing := lacking(m, ""); missing != "" {
		return fmt.Errorf("making a backup of the cluster: %s does not exist", missing)
	}
	if err := discard(ctx, m, layout.ClusterBackup); err != nil {
		return err
	}
	if err := removeAll(ctx, m, fresh); err != nil {
		return err
	}
	there := present(m, "", slices.Concat(whole, []string{hostname}))
	if err := fits(ctx, m, spare, there); err != nil {
		return err
	}
	if err := run(ctx, m, [][]string{
		{"mkdir", "--parents", "--mode=0700", fresh},
		append([]string{"cp", "--archive", "--reflink=auto", "--parents", "--target-directory=" + fresh}, there...),
		{"sync", "--file-system", fresh},
		{"mv", "--no-target-directory", fresh, layout.ClusterBackup},
		{"sync", "--file-system", path.Dir(layout.ClusterBackup)},
	}); err != nil {
		return fmt.Errorf("making a backup of the cluster: %w", err)
	}
	return nil
}

// lacking is the first part that a cluster cannot start without and that is not below the folder from; "" where all are there.
func lacking(m *host.Machine, from string) string {
	for _, p := range whole {
		if p != revision && !m.Exists(from+p) {
			return from + p
		}
	}
	return ""
}

// present are those of paths that are below the folder from.
func present(m *host.Machine, from string, paths []string) []string {
	var there []string
	for _, p := range paths {
		if m.Exists(from + p) {
			there = append(there, from+p)
		}
	}
	return there
}

// fits tells whether the disk has room for a copy of paths that shares no blocks, and leaves so many bytes beside it.
func fits(ctx context.Context, m *host.Machine, beside int64, paths []string) error {
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
	if free < size+beside {
		return fmt.Errorf("%d MB are free on /var, and the backup needs %d", free>>20, (size+beside)>>20)
	}
	return nil
}

// Drop removes the backups of a cluster that has outgrown them.
func Drop(ctx context.Context, m *host.Machine) error {
	return errors.Join(discard(ctx, m, layout.ClusterBackup), discard(ctx, m, Kept))
}

// discard takes a backup's name away before its files: a loss of power leaves the whole backup or none.
func discard(ctx context.Context, m *host.Machine, folder string) error {
	if m.Exists(folder + outdated) { // a removal that was cut off
		if err := removeAll(ctx, m, folder+outdated); err != nil {
			return err
		}
	}
	if !m.Exists(folder) {
		return nil
	}
	if err := run(ctx, m, [][]string{
		{"mv", "--no-target-directory", folder, folder + outdated}, {"sync", "--file-system", path.Dir(folder)},
	}); err != nil {
		return fmt.Errorf("removing an old backup: %w", err)
	}
	return removeAll(ctx, m, folder+outdated)
}

// Restorable tells whether there is a backup that can be put back: it is whole, and of a node with this name.
func Restorable(m *host.Machine) bool {
	before, err := m.ReadFile(layout.ClusterBackup + hostname)
	now, errNow := m.ReadFile(hostname)
	return string(before) == string(now) && (err == nil) == (errNow == nil) && lacking(m, layout.ClusterBackup) == ""
}

// Room tells why the backup cannot be put back where the disk is too full for it: what it replaces is kept.
func Room(ctx context.Context, m *host.Machine) error {
	return fits(ctx, m, needs, present(m, layout.ClusterBackup, whole))
}

// Restore stops the cluster and puts the backup back. What it replaces is kept in Damaged, and the backup stays. It closes
// the kubelet's gate, so that a loss of power leaves a node that does not start what is half there: then Restore is called again.
func Restore(ctx context.Context, m *host.Machine) error {
	if err := Hold(ctx, m); err != nil {
		return err
	}
	err := putAside(ctx, m)
	for _, p := range whole {
		if err == nil {
			err = putBack(ctx, m, p)
		}
	}
	if err != nil {
		return &problem.Problem{
			Code: "ETC-BACK", Summary: message.T("The backup of the cluster cannot be put back."), Fix: message.T("Retry; if it fails again, make a support bundle and call support."), Err: err,
		}
	}
	return nil
}

// putAside keeps what etcd has said of the damaged database: its next start is judged by new words alone.
func putAside(ctx context.Context, m *host.Machine) error {
	if lost := lacking(m, layout.ClusterBackup); lost != "" {
		return fmt.Errorf("the backup is not whole: %s does not exist", lost)
	}
	steps := [][]string{{"mkdir", "--parents", "--mode=0700", Damaged}}
	if said := logs(m, etcd); len(said) > 0 {
		steps = append(steps, append([]string{"mv", "--backup=numbered", "--target-directory=" + Damaged}, said...))
	}
	if err := run(ctx, m, steps); err != nil {
		return fmt.Errorf("keeping the damaged database's log: %w", err)
	}
	return nil
}

// aside is the first free name in Damaged for what lies at p, from number n on.
func aside(m *host.Machine, p string, n int) string {
	name := path.Join(Damaged, path.Base(p))
	if n > 1 {
		name += "-" + strconv.Itoa(n)
	}
	if m.Exists(name) {
		return aside(m, p, n+1)
	}
	return name
}

// putBack makes one path what it is in the backup. It is whole on the disk before it takes its place; what was there is kept. After a
// loss of power in the middle of Restore that can be the backup's again, which costs a little room and spares the question whether it is.
func putBack(ctx context.Context, m *host.Machine, p string) error {
	from, fresh := layout.ClusterBackup+p, p+".touchdown"
	if err := removeAll(ctx, m, fresh); err != nil {
		return err
	}
	var argvs [][]string
	in := m.Exists(from)
	if in {
		argvs = append(argvs, []string{"cp", "--archive", "--reflink=auto", "--no-target-directory", from, fresh}, []string{"sync", "--file-system", fresh})
	}
	if m.Exists(p) {
		argvs = append(argvs, []string{"mv", "--no-target-directory", p, aside(m, p, 1)}, []string{"sync", "--file-system", Damaged})
	}
	if in {
		argvs = append(argvs, []string{"mv", "--no-target-directory", fresh, p})
	}
	if err := run(ctx, m, append(argvs, []string{"sync", "--file-system", path.Dir(p)})); err != nil {
		return fmt.Errorf("putting %s back: %w", p, err)
	}
	return nil
}

// Keep ends the time in which the backup may be put back: its cluster is in use from now on.
func Keep(ctx context.Context, m *host.Machine) error {
	if !m.Exists(layout.ClusterBackup) {
		return nil
	}
	if err := discard(ctx, m, Kept); err != nil {
		return err
	}
	if err := run(ctx, m, [][]string{
		{"mv", "--no-target-directory", layout.ClusterBackup, Kept}, {"sync", "--file-system", path.Dir(Kept)},
	}); err != nil {
		return fmt.Errorf("keeping the backup of the cluster: %w", err)
	}
	return nil
}

func removeAll(ctx context.Context, m *host.Machine, folder string) error {
	if _, err := m.Run(ctx, "rm", "--recursive", "--force", folder); err != nil {
		return fmt.Errorf("removing an old backup: %w", err)
	}
	return nil
}

// run runs commands one after the other, until one fails.
func run(ctx context.Context, m *host.Machine, argvs [][]string) error {
	for _, argv := range argvs {
		if _, err := m.Run(ctx, argv...); err != nil {
			return err
		}
	}
	return nil
}
