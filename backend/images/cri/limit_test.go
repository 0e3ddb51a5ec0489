package cri_test

import (
	"math"
	"testing"
	"time"

	"touchdown/backend/images/cri"
)

// A registry that gives an image any size it likes makes a try neither endless nor over before it began.
func TestSizesAreNotBelieved(t *testing.T) {
	for _, size := range []int64{0, 1 << 20, 1 << 30, 1 << 40, 1 << 50, math.MaxInt64} {
		if took := cri.Limit(size); took < 10*time.Minute || took > 12*time.Hour {
			t.Errorf("an image of %d bytes may take %s", size, took)
		}
	}
	if took := cri.Limit(64 << 20); took != 10*time.Minute+1024*time.Second {
		t.Errorf("64 MiB may take %s", took)
	}
}
