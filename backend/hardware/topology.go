package hardware

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/jaypipes/ghw"

	"touchdown/backend/host"
	"touchdown/backend/message"
)

// Node is processors with the memory that is near to them. A machine with one socket has one as a rule.
type Node struct {
	ID      int     `json:"id"`
	Cores   int     `json:"cores"`
	Threads []int   `json:"threads,omitempty"` // their numbers
	Bytes   int64   `json:"bytes,omitempty"`   // of memory
	Caches  []Cache `json:"caches,omitempty"`
}

// Cache is memory inside the processors, all of one kind together.
type Cache struct {
	Level int    `json:"level"`
	Type  string `json:"type"`  // "instruction", "data", "unified"
	Count int    `json:"count"` // how many there are
	Bytes int64  `json:"bytes"` // of each
}

func (p *Parts) readTopology(m *host.Machine) error {
	info, err := ghw.Topology(options(m)...)
	if err != nil {
		return fmt.Errorf("reading the topology: %w", err)
	}
	for _, n := range info.Nodes {
		node := Node{ID: n.ID, Cores: len(n.Cores)}
		for _, core := range n.Cores {
			node.Threads = append(node.Threads, core.LogicalProcessors...)
		}
		slices.Sort(node.Threads)
		if n.Memory != nil {
			node.Bytes = n.Memory.TotalUsableBytes
		}
		for _, c := range n.Caches {
			node.count(Cache{Level: int(c.Level), Type: strings.ToLower(c.Type.String()), Count: 1, Bytes: int64(c.SizeBytes)})
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p.missedNodes(m)
}

// missedNodes adds the nodes that ghw leaves out: it stops at the first one that lacks a file, such as those of huge pages.
func (p *Parts) missedNodes(m *host.Machine) error {
	const nodes = "/sys/devices/system/node"
	if err := missing(m, nodes); err != nil {
		return fmt.Errorf("reading the topology: %w", err)
	}
	var failed error
	all, err := m.Glob(nodes + "/node[0-9]*")
	if err != nil {
		return fmt.Errorf("reading the topology: %w", err)
	}
	for _, dir := range all {
		id, err := strconv.Atoi(strings.TrimPrefix(path.Base(dir), "node"))
		if err != nil || slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.ID == id }) {
			continue
		}
		node, cores := Node{ID: id}, map[string]bool{}
		threads, _ := m.Glob(dir + "/cpu[0-9]*")
		for _, thread := range threads {
			if n, err := strconv.Atoi(strings.TrimPrefix(path.Base(thread), "cpu")); err == nil {
				node.Threads = append(node.Threads, n)
				cores[oneLine(m, thread+"/topology/physical_package_id")+":"+oneLine(m, thread+"/topology/core_id")] = true
			}
		}
		slices.Sort(node.Threads)
		node.Cores = len(cores)
		p.Nodes = append(p.Nodes, node)
		failed = message.Failed(message.T("the kernel does not show the memory and the caches of every node"))
	}
	return failed
}

// count adds a cache to those of its kind.
func (n *Node) count(c Cache) {
	for k := range n.Caches {
		if old := &n.Caches[k]; old.Level == c.Level && old.Type == c.Type && old.Bytes == c.Bytes {
			old.Count++
			return
		}
	}
	n.Caches = append(n.Caches, c)
}

// missing names what is not there.
func missing(m *host.Machine, path string) error {
	if m.Exists(path) {
		return nil
	}
	return message.Failed(message.F("%s is not there", path))
}
