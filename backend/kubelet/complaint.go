package kubelet

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"touchdown/backend/host"
)

// logs are those of the API server's container, the oldest first. The kubelet names each by how often the container had been
// started before, and keeps the newest few.
func logs(m *host.Machine) []string {
	files, err := m.Glob("/var/log/pods/openshift-kube-apiserver_kube-apiserver-*/kube-apiserver/*.log")
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
	files := logs(m)
	if len(files) == 0 {
		return 0
	}
	return attempt(files[len(files)-1])
}

// Complaint is the last error that the API server wrote before it ended, "" when there is none to find. One that was just
// started has not complained yet: then it is that of the one before.
func Complaint(m *host.Machine) string {
	files := logs(m)
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
	for line := range strings.Lines(log) {
		// The container runtime's format: time, stream, flag, and then what the program wrote.
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(words) < 4 {
			continue
		}
		text := words[3]
		if strings.HasPrefix(text, "E") || strings.HasPrefix(text, "F") || strings.Contains(strings.ToLower(text), "error:") {
			found = text
		}
	}
	return found
}
