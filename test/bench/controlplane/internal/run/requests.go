package run

import (
	"maps"
	"slices"

	"touchdown/test/bench/controlplane/internal/apiserver"
)

// orders are the faults of requests that are wanted. The server knows how often each has hit; but what it was not told yet,
// because it went down meanwhile, it does not know.
type orders struct {
	list   []apiserver.Fault
	number int // rises with each order
	told   int // the newest order that a server has taken
}

func (o *orders) order(list []apiserver.Fault) { o.list, o.number = list, o.number+1 }

// restarted notes that there is a server that was told nothing.
func (o *orders) restarted() { o.told = -1 }

// heard takes what a server says that is left of the faults, unless it does not know the newest order.
func (o *orders) heard(left []apiserver.Fault) {
	if o.told == o.number {
		o.list = left
	}
}

// addFault adds a fault of requests to those that still have some to hit. With the server away it waits for the next process.
func (c *child) addFault(f apiserver.Fault) error {
	var now apiserver.Snapshot
	alive := c.socket("GET", "/snapshot", nil, &now) == nil
	c.mu.Lock()
	if alive {
		c.faults.heard(now.Faults)
	}
	c.faults.order(append(slices.Clone(c.faults.list), f))
	c.mu.Unlock()
	return c.tellFaults()
}

// clearFaults ends all faults of requests.
func (c *child) clearFaults() error {
	c.mu.Lock()
	c.faults.order(nil)
	c.mu.Unlock()
	return c.tellFaults()
}

// tellFaults tells the server. One that is away, or goes down meanwhile, is told when it starts again.
func (c *child) tellFaults() error {
	var err error
	for range 5 {
		if !c.ready() {
			return nil
		}
		if err = c.sendFaults(); err == nil {
			return nil
		}
	}
	return err
}

func (c *child) sendFaults() error {
	c.mu.Lock()
	faults, number := append([]apiserver.Fault{}, c.faults.list...), c.faults.number
	c.mu.Unlock()
	if err := c.socket("PUT", "/faults", faults, nil); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults.told = max(c.faults.told, number)
	return nil
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
	c.faults.heard(last.Faults)
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
