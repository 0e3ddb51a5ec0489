package run

import (
	"testing"

	"touchdown/test/bench/controlplane/internal/apiserver"
)

// TestAnOrderOutlivesAServer: a server that is killed before it was told that a fault is over says that it is still there.
func TestAnOrderOutlivesAServer(t *testing.T) {
	var o orders
	o.order([]apiserver.Fault{{Kind: "forbidden", Times: 3}})
	o.told = o.number
	left := []apiserver.Fault{{Kind: "forbidden", Times: 2}}
	if o.heard(left); len(o.list) != 1 || o.list[0].Times != 2 {
		t.Errorf("the server told what is left, and it is %v", o.list)
	}
	o.order(nil)
	if o.heard(left); len(o.list) > 0 {
		t.Errorf("a fault that was cleared is back: %v", o.list)
	}
	o.told = o.number
	if o.heard([]apiserver.Fault{}); len(o.list) > 0 {
		t.Errorf("faults from nowhere: %v", o.list)
	}
	o.order([]apiserver.Fault{{Kind: "slow"}})
	o.told = o.number
	o.restarted()
	if o.heard(nil); len(o.list) != 1 {
		t.Error("a server that has just started, and was told nothing, ended a fault")
	}
}
