package kubelet

import (
	"errors"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// damage are the words with which etcd ends when a loss of power has torn its files: its own (server/etcdserver/bootstrap.go,
// server/storage/backend/backend.go, server/storage/wal), and those of its database bbolt (db.go, tx.go, page.go, errors). Seen with etcd
// 3.6.4 on files that were torn on purpose, and in etcd's issues 10466, 10722, 11949, 14569, 16596, 17084 and 18096.
var damage = []string{
	"failed to recover v3 backend from snapshot", "failed to open database", "walpb: crc mismatch",
	"Page expected to be: ", "failed to get all reachable pages", "already freed", "above high water mark", "invalid database", "checksum error",
}

// ready is what etcd writes when its files were good.
const ready = "ready to serve client requests"

// mostSaid is how much of etcd's newest log is read, from its end: its last words, and the trace behind them. Chosen.
const mostSaid = 256 << 10

// Damage tells that etcd will not start, however long one waits. Only its newest start counts, which stays the newest while the kubelet
// waits to try again: one that has not come to an end yet may be slow, or that of a database that support has repaired.
func Damage(m *host.Machine) error {
	files := logs(m, etcd)
	if len(files) == 0 {
		return nil
	}
	said, err := host.ReadTail(m, files[len(files)-1], mostSaid)
	if err != nil {
		return nil //nolint:nilerr // a log that does not tell is not damage
	}
	torn := ""
	for text := range written(string(said)) {
		switch {
		case strings.Contains(text, ready):
			torn = ""
		case slices.ContainsFunc(damage, func(words string) bool { return strings.Contains(text, words) }):
			torn = text
		}
	}
	if torn == "" {
		return nil
	}
	return &problem.Problem{
		Code:    Torn,
		Summary: message.T("The cluster's database (etcd) does not start: a loss of power has damaged its files."),
		Fix:     way(m), Err: errors.New(head(torn)),
	}
}

// way tells what a person can do. OpenShift's own way back (cluster-restore.sh of the cluster-etcd-operator) needs a snapshot, which a
// site that makes none does not have.
func way(m *host.Machine) message.Text {
	if !m.Exists(Kept) {
		return message.T("Waiting does not help. Do not reinstall the node: its data is on the disk. Make a support bundle and call support, who can put a backup of the database back.")
	}
	return message.F("The cluster does not come back without help, and waiting does not help. Do not reinstall the node: the damaged data is in %s. Make a support bundle and call support. A backup of the cluster as it was before its landing is in %s; with it support can land the node again, but all that was changed in the cluster since is lost.", database, Kept)
}

// head is the start of a line: etcd puts a trace of the program behind it.
func head(line string) string {
	const most = 300
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "..."
	}
	return line
}
