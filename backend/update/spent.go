package update

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// ordersFile has the ids of the orders that the node does not follow again.
const ordersFile = layout.State + "/update-orders"

// recording keeps what reads the record and writes it again apart: the engine notes what a person stopped without its own lock.
var recording sync.Mutex

// Spent is the record of the orders that a node does not follow again: those that it began to follow, and those that a person stopped.
type Spent struct{ node Node }

// SpentOn is the record of a node.
func SpentOn(n Node) Spent { return Spent{n} }

// What became of an order: the second word of its line.
const (
	wasBegun   = "begun"
	wasStopped = "stopped"
)

// Begin notes that the node follows an order, on disk before it returns: a power cut right after it means that the order is never followed.
// A program that makes its machine lose power would else be tried with each boot. It fails where the order is spent.
func (s Spent) Begin(id string) error {
	recording.Lock()
	defer recording.Unlock()
	if err := s.Against(id); err != nil {
		return err
	}
	return s.add(id, wasBegun)
}

// Stop notes that a person stopped the countdown of an order.
func (s Spent) Stop(id string) error {
	recording.Lock()
	defer recording.Unlock()
	return s.add(id, wasStopped)
}

// Against is why the node does not follow an order any more (UPD-USED, UPD-HALT; UPD-REC where that cannot be known); nil for nothing.
func (s Spent) Against(id string) error {
	lines, err := s.lines()
	if err != nil {
		return &problem.Problem{
			Code: "UPD-REC", Summary: message.F("The node's record %s cannot be read, so no update order is followed.", ordersFile),
			Fix: message.T("Install the release at a console, and tell your support."), Err: err,
		}
	}
	switch {
	case slices.Contains(lines, id+" "+wasStopped):
		return Stopped()
	case slices.Contains(lines, id+" "+wasBegun):
		return &problem.Problem{
			Code: "UPD-USED", Summary: message.T("This node has begun to follow the update order on the stick before; each is followed once."),
			Fix: message.T("Install the release at a console, or have another order made with touchdown media write. The events tell what became of it: touchdown events."),
		}
	}
	return nil
}

// Stopped tells that a person stopped an order (UPD-HALT).
func Stopped() error {
	return &problem.Problem{
		Code: "UPD-HALT", Summary: message.T("A person stopped the update order on the stick."),
		Fix: message.T("Install the release at a console, or have another order made with touchdown media write."),
	}
}

// add writes the record with one more line. Its caller holds recording.
func (s Spent) add(id, what string) error {
	lines, err := s.lines()
	if err != nil {
		return err
	}
	return s.node.WriteFile(ordersFile, spentText(append(lines, id+" "+what)), 0o600)
}

// lines are those of the record. A node that never followed one has none. Where it was lost, an order that the node has followed to its
// end finds a program that is not newer.
func (s Spent) lines() ([]string, error) {
	text, err := s.node.ReadFile(ordersFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\n")
	lines := slices.DeleteFunc(strings.Split(list, "\n"), func(line string) bool { return line == "" })
	if string(spentText(lines)) != string(text) {
		return nil, errors.New("it is not as it was written")
	}
	return lines, nil
}

// spentText is the record. Its first line has the number of the others, so that one that lost some is not taken for whole.
func spentText(lines []string) []byte {
	head := fmt.Sprintf("# update orders that this node does not follow again: %d", len(lines))
	return []byte(strings.Join(append([]string{head}, lines...), "\n") + "\n")
}
