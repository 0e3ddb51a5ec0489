package node_test

import (
	"testing"
	"time"

	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
)

func TestStockedDisk(t *testing.T) {
	begun := time.Now()
	image, err := node.Stocked(within(t, 10*time.Minute), images.Small)
	node.Require(t, err)
	t.Logf("disk %s after %.1f s", image, time.Since(begun).Seconds())
}
