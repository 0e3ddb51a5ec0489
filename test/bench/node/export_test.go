package node

import "context"

// Freeze stops all processes of the node, for a test that writes to its disk with nobody who could sync it.
func (m *Machine) Freeze(ctx context.Context) { m.freeze(ctx) }
