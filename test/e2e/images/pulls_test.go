package images

import (
	"testing"
	"time"

	"touchdown/test/bench/images"
	"touchdown/test/bench/node"
	"touchdown/test/bench/pulls"
	"touchdown/test/wait"
)

// TestPullsShareLayers pulls images with as many at once as there may be: the registry hands out each layer once, as for a
// loop that pulls one after the other.
func TestPullsShareLayers(t *testing.T) {
	wait.Slow(t)
	ctx := wait.Within(t, 3*time.Minute)
	b, err := pulls.Launch(ctx, images.Small)
	node.Require(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("ending the bench: %v", err)
		}
	})
	wait.Explain(t, "the bench node", b.Node.Diagnosis)
	const first = 24 // of the images: they have all bases and middles in common
	serial, err := b.Serial(ctx, first)
	must(t, err)
	parallel, err := b.Parallel(ctx, first, 8)
	must(t, err)
	t.Logf("one after the other: %+v; eight at once: %+v", serial, parallel)
	if serial.Images != first || parallel.Images != first {
		t.Errorf("%d and %d images were pulled, want %d", serial.Images, parallel.Images, first)
	}
	if ratio := float64(parallel.Bytes) / float64(serial.Bytes); ratio > 1.05 || serial.Bytes < 1<<20 {
		t.Errorf("eight at once fetch %.2f times the %d bytes of a loop", ratio, serial.Bytes)
	}
}
