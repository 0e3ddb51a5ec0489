package seeded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	seed "touchdown/backend/images"
	"touchdown/backend/layout"
)

// operation is something that changes the store and can be struck.
type operation struct {
	name    string
	script  string                                // what is run; with points: by this test's own program, which knows them
	points  bool                                  // it can be struck at a point of the pool, else only at a moment
	offline bool                                  // CRI-O is stopped for it
	usual   time.Duration                         // until an undisturbed one was seen
	prepare func(r *run) (env string, become set) // what must be there before; the store's images when it has come to its end
}

func byChild(op string) string { return childOp + "=" + op + " exec " + program }

// operations are all that change the store. Another command is one more entry.
var operations = []operation{
	{name: "seed", script: "exec touchdown images seed", usual: 3 * time.Second, prepare: (*run).more},
	{name: "add", script: byChild("add"), points: true, usual: time.Second, prepare: (*run).more},
	{name: "move", script: byChild("move"), points: true, offline: true, usual: time.Second, prepare: (*run).more},
	{name: "prune", script: byChild("prune"), points: true, usual: time.Second, prepare: (*run).fewer},
	{name: "check", script: "exec touchdown images check", usual: 2 * time.Second, prepare: (*run).older},
	{name: "repair", script: "exec touchdown images verify --quick", usual: 2 * time.Second, prepare: (*run).damaged},
}

// mine is the beginning of the names of images that are there for the blows only.
const mine = "localhost/crash/"

// more puts images into CRI-O's own store that the seeded one lacks.
func (r *run) more() (string, set) {
	r.Helper()
	var names []string
	for range 1 + r.rand.IntN(3) {
		r.made++
		names = append(names, fmt.Sprintf("%s%d:1", mine, r.made))
	}
	r.put(names...)
	return "", r.store().with(r.primary())
}

// fewer chooses the images that are dropped: half of those that only the blows needed.
func (r *run) fewer() (string, set) {
	r.Helper()
	become := r.store()
	own := r.primary()
	var drop []string
	for _, id := range slices.Sorted(maps.Keys(become)) {
		if names := become[id]; len(names) > 0 && strings.HasPrefix(names[0], mine) && own[id] == nil && r.rand.IntN(2) == 0 {
			drop = append(drop, id)
			delete(become, id)
		}
	}
	return childDrop + "=" + strings.Join(drop, ","), become
}

// older makes the node believe that the last change is of an earlier boot, so that the look lets the generation before go.
func (r *run) older() (string, set) {
	r.Helper()
	r.sh("echo 00000000-0000-0000-0000-000000000000 > " + layout.ImagesState + "/switched; sync")
	return "", r.store()
}

// damaged loses a file of a layer that CRI-O's own store has whole.
func (r *run) damaged() (string, set) {
	r.Helper()
	r.more()
	r.run("images", "seed")
	r.sh(`cd ` + seed.Pool + `/overlay; for l in $(ls -t); do
  if [ -e $l/diff/pod ] && [ -e /var/lib/containers/storage/overlay/$l/diff/pod ]; then rm $l/diff/pod; sync; exit; fi
done; echo no layer is in both; exit 1`)
	return "", r.store()
}
