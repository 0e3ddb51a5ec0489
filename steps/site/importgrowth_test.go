package site

import (
	"runtime"
	"strings"
	"testing"
)

// growth returns how much more memory a document of twice the size takes. It counts what is allocated, which no other load changes.
func growth(t *testing.T, size int, prepare func(size int) func()) float64 {
	t.Helper()
	allocated := func(work func()) float64 {
		work() // so that what is made only once is not counted
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		work()
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	one, two := allocated(prepare(size)), allocated(prepare(2*size))
	t.Logf("%.0f bytes, then %.0f", one, two)
	return two / max(one, 1)
}

// TestImportGrowsWithItsClusters: the search for a node reads each cluster once.
func TestImportGrowsWithItsClusters(t *testing.T) {
	ratio := growth(t, 500, func(size int) func() {
		doc := []byte("apiVersion: ran.openshift.io/v1\nkind: SiteConfig\nspec:\n  baseDomain: example.com\n  clusters:\n" +
			strings.Repeat("  - {clusterName: one, nodes: [{hostName: b}]}\n", size) + "  - {clusterName: two, nodes: [{hostName: a}]}\n")
		return func() {
			if _, _, err := Import(doc, "doc", ImportChoice{Node: "a"}); err != nil {
				t.Fatal(err)
			}
		}
	})
	if ratio > 3 {
		t.Errorf("twice the clusters take %.1f times the memory", ratio)
	}
}
