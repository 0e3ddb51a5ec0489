package node

import (
	"context"
	"runtime"
	"testing"
	"time"

	"touchdown/test/wait"
)

// TestPlaces: no more nodes are on than there are places, and the end of one lets the next begin.
func TestPlaces(t *testing.T) {
	cache := t.TempDir()
	ctx := wait.Within(t, time.Second)
	first, err := takePlace(ctx, cache)
	if err != nil {
		t.Fatal(err)
	}
	for range max(2, runtime.NumCPU()) - 1 {
		other, err := takePlace(ctx, cache)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
	}
	full, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	defer stop()
	if more, err := takePlace(full, cache); err == nil {
		more.Close()
		t.Fatal("there is a place for one node more")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := takePlace(ctx, cache)
	if err != nil {
		t.Fatalf("a node has ended: %v", err)
	}
	again.Close()
}
