package site

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
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
	return two / max(one, 1<<16) // what the runtime takes meanwhile is less
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

// TestImportGrowsWithItsDepth: a path is made only for a note, not for each value of a deep and wide document.
func TestImportGrowsWithItsDepth(t *testing.T) {
	ratio := growth(t, 40, func(size int) func() {
		key := strings.Repeat("k", 30)
		doc := "baseDomain: example.com\n" + key + ": " + strings.Repeat("{role: b, "+key+": ", size)
		doc += "{role: b, " + wideKeys(100*size) + "}" + strings.Repeat("}", size)
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(doc), &root); err != nil {
			t.Fatal(err)
		}
		return func() { walked(root.Content[0]) }
	})
	if ratio > 3 {
		t.Errorf("twice the depth and width take %.1f times the memory", ratio)
	}
}

// TestImportOfUnknownNetworkKeys: a key that nmstate does not have is neither searched for nor given a path.
func TestImportOfUnknownNetworkKeys(t *testing.T) {
	ratio := growth(t, 20_000, func(size int) func() {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte("{"+wideKeys(size)+"}"), &root); err != nil {
			t.Fatal(err)
		}
		im := &importer{config: New(), account: account{marked: map[*yaml.Node]bool{}}}
		return func() { im.network(spot{root.Content[0], "a"}, spot{}) }
	})
	if ratio > 1.5 {
		t.Errorf("twice the keys take %.1f times the memory", ratio)
	}
}

// TestParseOfUnknownKeys: past the last mistake that is told, keys are not read. What each unknown one could mean takes time.
func TestParseOfUnknownKeys(t *testing.T) {
	ratio := growth(t, 5_000, func(size int) func() {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte("{"+wideKeys(size)+"}"), &root); err != nil {
			t.Fatal(err)
		}
		return func() {
			r := &reader{config: New()}
			r.mapping(root.Content[0], "spec.")
			if last := r.errs[len(r.errs)-1]; len(r.errs) != maxErrors || last.Msg.String() != "has more mistakes from here on" {
				t.Fatalf("%d mistakes, the last: %s", len(r.errs), last)
			}
		}
	})
	if ratio > 1.5 {
		t.Errorf("twice the keys take %.1f times the memory", ratio)
	}
}

// wideKeys are keys with values, each key another one.
func wideKeys(count int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "k%c%c%c%c: x, ", 'a'+i/17576%26, 'a'+i/676%26, 'a'+i/26%26, 'a'+i%26)
	}
	return b.String()
}

// walked notes what is left out of a document of which nothing was taken.
func walked(root *yaml.Node) {
	a := account{trees: []tree{{spot{node: root}, true}}, marked: map[*yaml.Node]bool{}}
	a.leftOut()
}
