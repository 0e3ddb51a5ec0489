package run

import (
	"maps"

	"touchdown/test/bench/controlplane/internal/apiserver"
)

// addFault adds a fault of requests to those that still have some to hit. With the server away it waits for the next process.
func (c *child) addFault(f apiserver.Fault) error {
	var now apiserver.Snapshot
	alive := c.socket("GET", "/snapshot", nil, &now) == nil
	c.mu.Lock()
	if alive {
		c.faults = now.Faults
	}
	c.faults = append(c.faults, f)
	c.mu.Unlock()
	if !alive {
		return nil
	}
	if err := c.sendFaults(); err != nil && c.ready() {
		return err
	}
	return nil // a server that went down meanwhile: the next one gets them
}

// clearFaults ends all faults of requests.
func (c *child) clearFaults() error {
	c.mu.Lock()
	c.faults = nil
	c.mu.Unlock()
	if !c.ready() {
		return nil
	}
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
	var last apiserver.Snapshot
	if err := c.socket("POST", "/freeze", nil, &last); err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	add(c.past, last.Counts)
	c.faults = last.Faults
}

// counts are those of all processes.
func (c *child) counts() (apiserver.Counts, int) {
	c.mu.Lock()
	total := apiserver.Counts{Reads: maps.Clone(c.past.Reads), Writes: maps.Clone(c.past.Writes)}
	restarts := c.restarts
	c.mu.Unlock()
	var now apiserver.Snapshot
	if err := c.socket("GET", "/snapshot", nil, &now); err == nil {
		add(total, now.Counts)
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
