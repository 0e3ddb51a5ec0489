package stick

import (
	"slices"
	"testing"

	"touchdown/backend/envelope"
)

// TestRecords: a node with these records trusts the key, and its media can be sealed for it.
func TestRecords(t *testing.T) {
	_, public := Key(t)
	recipient, records := Records(t, public)
	if _, err := envelope.NodeLock(recipient); err != nil {
		t.Error(err)
	}
	var names []string
	for _, r := range records {
		names = append(names, r.Name)
	}
	if want := []string{"node.key", "node.pub", "trusted.pub", "used"}; !slices.Equal(names, want) {
		t.Errorf("the records are %v, want %v", names, want)
	}
}
