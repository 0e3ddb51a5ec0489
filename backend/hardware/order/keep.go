package order

import (
	"errors"
	"io/fs"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// None as the name of a sheet takes a kept one away.
const None = "none"

// Keep leaves the sheet on the node, for each look on the bench line and for the cables at the site.
func (s *Sheet) Keep(m *host.Machine) error { return m.WriteFile(layout.Order, s.raw, 0o600) }

// Forget takes the kept sheet away.
func Forget(m *host.Machine) error { return m.Remove(layout.Order) }

// Kept returns the sheet that was kept on the node, nil where there is none.
func Kept(m *host.Machine) (*Sheet, error) {
	data, _, err := m.ReadHead(layout.Order, maxBytes+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // most nodes have none
	case err != nil:
		return nil, unreadable(layout.Order, err)
	}
	return Parse(data, layout.Order)
}
