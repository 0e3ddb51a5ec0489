package ledger

import (
	"time"

	"touchdown/backend/host"
)

// Return adds a line to a ledger which says that this machine came back to the factory, and tells whether the ledger knows the machine; one
// that it does not know gets no line. The new line has the identity of the machine's last one: its cluster may not run any more. When that
// says already that it came back, it stays the last one.
func Return(path string, m *host.Machine, now time.Time) (known bool, err error) {
	e := Entry{Serial: m.Serial()}
	if err := e.readPorts(m); err != nil {
		return false, err
	}
	err = add(path, e, func(is found) (*Entry, error) {
		known = is.last != nil
		if !known || !is.last.Returned.IsZero() {
			return nil, nil
		}
		back := *is.last
		back.Returned, back.Wiped = now.UTC().Truncate(time.Second), time.Time{}
		return &back, nil
	})
	return known, err
}
