package run

import (
	"maps"

	"touchdown/test/bench/controlplane/internal/apiserver"
)

// setFaults replaces the faults of requests, now and for every process that comes.
func (c *child) setFaults(faults []apiserver.Fault) error {
	c.mu.Lock()
	c.faults = faults
	c.mu.Unlock()
	return c.sendFaults()
}

func (c *child) sendFaults() error {
	c.mu.Lock()
	faults := append([]apiserver.Fault{}, c.faults...)
	c.mu.Unlock()
	return c.socket("PUT", "/faults", faults, nil)
}

// keepCounts saves what a process counted before it is killed, and has it answer the program under test no more.
func (c *child) keepCounts() {
	var last apiserver.Counts
	if err := c.socket("POST", "/freeze", nil, &last); err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	add(c.past, last)
}

// counts are those of all processes.
func (c *child) counts() (apiserver.Counts, int) {
	c.mu.Lock()
	total := apiserver.Counts{Reads: maps.Clone(c.past.Reads), Writes: maps.Clone(c.past.Writes)}
	restarts := c.restarts
	c.mu.Unlock()
	var now apiserver.Counts
	if err := c.socket("GET", "/counts", nil, &now); err == nil {
		add(total, now)
	}
	return total, restarts
}

func add(to, more apiserver.Counts) {
	for k, n := range more.Reads {
		to.Reads[k] += n
	}
	for k, n := range more.Writes {
		to.Writes[k] += n
	}
}
