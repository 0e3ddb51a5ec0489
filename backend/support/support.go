// Package support collects for the support bundle what a node's own services say of it: logs, the state of its network, and the
// cluster's objects without their contents. Each part is bounded in size and time; one that cannot be had is named, and loses no other.
package support

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/kube"
)

// Limits of a bundle. Chosen: a command that hangs and an API that is away cost a minute together, and the parts fit a small stick.
const (
	// mostTail is the end of each part in bytes that is kept.
	mostTail = 4 << 20
	// perPart is the time that one command or one list may take.
	perPart = 10 * time.Second
	// together is the time that all parts may take.
	together = time.Minute
)

// Part is one file of the bundle.
type Part struct {
	Name  string // "system-journal.txt"
	Data  []byte
	Whole bool // its end alone is of no use
}

// command is a part that a program of the node prints.
type command struct {
	name string
	argv []string
}

// commands read, and change nothing. nmcli shows no secrets unless it is asked to (--show-secrets).
var commands = []command{
	{"system-journal.txt", journal("20000", "--boot")},
	{"system-journal-previous-boot.txt", journal("5000", "--boot=-1")},
	{"kubelet.txt", journal("10000", "--unit=kubelet")},
	{"crio.txt", journal("10000", "--unit=crio")},
	{"network-manager.txt", journal("5000", "--unit=NetworkManager", "--boot")},
	{"nmcli-general.txt", []string{"nmcli", "general", "status"}},
	{"nmcli-devices.txt", []string{"nmcli", "device", "show"}},
	{"nmcli-connections.txt", []string{"nmcli", "--fields", "all", "connection", "show"}},
	{"ip-addresses.txt", []string{"ip", "-details", "address", "show"}},
	{"ip-routes.txt", []string{"ip", "route", "show", "table", "all"}},
	{"ip6-routes.txt", []string{"ip", "-6", "route", "show", "table", "all"}},
	{"units-failed.txt", []string{"systemctl", "list-units", "--failed", "--no-pager", "--plain"}},
	{"disks.txt", []string{"df", "--local", "--human-readable", "--print-type"}},
	{"containers.txt", []string{"crictl", "ps", "--all"}},
}

func journal(lines string, which ...string) []string {
	return append([]string{"journalctl", "--no-pager", "--quiet", "--output=short-iso", "--lines=" + lines}, which...)
}

// Journal is the end of the node's journal since it booted. It may hold secrets.
func Journal(ctx context.Context, h *host.Machine, lines int, grave bool) (string, error) {
	which := []string{"--boot"}
	if grave {
		which = append(which, "--priority=warning")
	}
	data, err := command{"", journal(strconv.Itoa(lines), which...)}.run(ctx, Asking{Host: h, Tail: mostTail})
	if err != nil {
		return "", fmt.Errorf("reading the node's journal: %w", err)
	}
	return string(data), nil
}

// Asking is what Collect needs.
type Asking struct {
	Host *host.Machine       // nil: no part of the node
	Kube *kube.Cluster       // nil: none of the cluster
	Mask func(string) string // takes out the secrets that are known, before Scrub breaks them up where they only look like two
	Tail int                 // the end of each part in bytes that is kept, 4 MiB at most
}

// Collect asks the node and its cluster. The last part names what could not be had.
func Collect(ctx context.Context, a Asking) []Part {
	a.Tail = min(a.Tail, mostTail)
	ctx, cancel := context.WithTimeout(ctx, together)
	defer cancel()
	var parts []Part
	var missing bytes.Buffer
	add := func(name string, data []byte, err error) {
		if err != nil {
			fmt.Fprintf(&missing, "%s: %s\n", name, strings.Join(strings.Fields(err.Error()), " "))
		}
		if len(data) > 0 {
			parts = append(parts, Part{Name: name, Data: []byte(Scrub(a.Mask(string(data))))})
		}
	}
	if a.Host != nil {
		for _, part := range commands {
			data, err := part.run(ctx, a)
			add(part.name, data, err)
		}
	}
	if a.Kube != nil {
		objects(ctx, a, add)
	}
	if missing.Len() > 0 {
		parts = append(parts, Part{Name: "missing.txt", Data: []byte(Scrub(a.Mask(missing.String())))})
	}
	return parts
}

// run returns the end of what a command prints, from the beginning of a line.
func (p command) run(ctx context.Context, a Asking) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perPart)
	defer cancel()
	out, err := a.Host.RunCommand(ctx, host.Command{Argv: p.argv, Tail: a.Tail})
	if _, rest, cut := strings.Cut(out, "\n"); cut && len(out) >= a.Tail {
		out = rest
	}
	return []byte(out), err
}
