package kubelet

import (
	"errors"
	"slices"
	"strings"

	"touchdown/backend/message"

	"touchdown/backend/host"
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

// Damage tells that etcd will not start, however long one waits. Of a start that has not come that far yet, the one before
// counts.
func Damage(m *host.Machine) error {
	all := begun(m)
	for _, log := range all[:min(2, len(all))] {
		torn, served := "", false
		for text := range written(log) {
			served = served || strings.Contains(text, ready)
			if slices.ContainsFunc(damage, func(words string) bool { return strings.Contains(text, words) }) {
				torn = text
			}
		}
		switch {
		case torn != "":
			return &problem.Problem{
				Code:    Torn,
				Summary: message.T("The cluster's database (etcd) does not start: a loss of power has damaged its files."),
				Fix:     way(m), Err: errors.New(head(torn)),
			}
		case served:
			return nil
		}
	}
	return nil
}

// way tells what a person can do. OpenShift's own way back (cluster-restore.sh of the cluster-etcd-operator) needs a snapshot, which a
// site that makes none does not have.
func way(m *host.Machine) message.Text {
	if !Restorable(m, Kept) {
		return message.T("Waiting does not help. Do not reinstall the node: its data is on the disk. Make a support bundle and call support, who can put a backup of the database back.")
	}
	return message.F("Waiting does not help. Do not reinstall the node: its data is on the disk. Make a support bundle and call support. If nothing else helps, land the node again: Touchdown then asks whether to put the cluster back as it was before its landing (from %s). All that was changed in it since is lost with that.", Kept)
}

// begun are the logs of etcd, the newest first. A new pod counts its starts from zero again, so that the time of the
// first line counts.
func begun(m *host.Machine) []string {
	var all []string
	for _, file := range logs(m, etcd) {
		if b, _, err := m.ReadHead(file, host.MaxFile); err == nil {
			all = append(all, string(b))
		}
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b string) int {
		first, _, _ := strings.Cut(a, " ")
		second, _, _ := strings.Cut(b, " ")
		return strings.Compare(second, first)
	})
	return all
}

// head is the start of a line: etcd puts a trace of the program behind it.
func head(line string) string {
	const most = 300
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + "..."
	}
	return line
}
