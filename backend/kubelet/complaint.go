package kubelet

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/host"
)

// Whose logs are read: the containers of static pods.
const (
	apiServer = "openshift-kube-apiserver_kube-apiserver-*/kube-apiserver"
	etcd      = "openshift-etcd_etcd-*/etcd"
)

// logs are those of a container, the oldest first. The kubelet names each by how often the container had been started before, and
// keeps the newest few.
func logs(m *host.Machine, container string) []string {
	files, err := m.Glob("/var/log/pods/" + container + "/*.log")
	if err != nil {
		return nil
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(attempt(a), attempt(b)) })
	return files
}

func attempt(file string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(path.Base(file), ".log"))
	if err != nil {
		return -1
	}
	return n
}

// starts is how often the API server was started again.
func starts(m *host.Machine) int {
	files := logs(m, apiServer)
	if len(files) == 0 {
		return 0
	}
	return attempt(files[len(files)-1])
}

// Complaint is the last error that the API server wrote before it ended, "" when there is none to find. One that was just
// started has not complained yet: then it is that of the one before.
func Complaint(m *host.Machine) string {
	files := logs(m, apiServer)
	slices.Reverse(files)
	for _, file := range files[:min(2, len(files))] {
		b, err := m.ReadFile(file)
		if err != nil {
			continue
		}
		if line := complaint(string(b)); line != "" {
			return line
		}
	}
	return ""
}

func complaint(log string) string {
	found := ""
	for text := range written(log) {
		if strings.HasPrefix(text, "E") || strings.HasPrefix(text, "F") || strings.Contains(strings.ToLower(text), "error:") {
			found = text
		}
	}
	return found
}

// written are the lines that a program wrote, out of the container runtime's format: time, stream, flag, text.
func written(log string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(log) {
			words := strings.SplitN(strings.TrimSpace(line), " ", 4)
			if len(words) == 4 && !yield(words[3]) {
				return
			}
		}
	}
}
