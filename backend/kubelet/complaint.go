package kubelet

import (
	"cmp"
	"iter"
	"os"
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

// logs are those of a container, the oldest first. The kubelet keeps the newest few and numbers them: N.log is of the start after N
// earlier ones. The logs of one folder are in the order of these numbers and not of their times, because the clock may be set in between.
// A pod of another revision has its own folder, whose numbers begin at zero again, so folders are in the order in which their newest logs began.
func logs(m *host.Machine, container string) []string {
	files, err := m.Glob("/var/log/pods/" + container + "/*.log")
	if err != nil {
		return nil
	}
	newest := map[string]string{} // by folder
	for _, file := range files {
		if last, is := newest[path.Dir(file)]; !is || attempt(file) > attempt(last) {
			newest[path.Dir(file)] = file
		}
	}
	began := map[string]string{}
	for folder, file := range newest {
		began[folder] = begin(m, file)
	}
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Or(cmp.Compare(began[path.Dir(a)], began[path.Dir(b)]), cmp.Compare(attempt(a), attempt(b)))
	})
	return files
}

// stamp is how the container runtime writes a time.
const stamp = "2006-01-02T15:04:05.000000000-07:00"

// begin is when a log began: the time of its first line. An empty log has none: its container has just begun, or the power failed
// before a line reached the disk. Then the file's time counts.
func begin(m *host.Machine, file string) string {
	first, _, err := m.ReadHead(file, int64(len(stamp)))
	if at, _, _ := strings.Cut(string(first), " "); err == nil && at != "" {
		return at
	}
	info, err := os.Stat(m.Path(file))
	if err != nil {
		return ""
	}
	return info.ModTime().UTC().Format(stamp)
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
