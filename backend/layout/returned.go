package layout

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// returnName is what a folder of records is called: the day, and from the second return on a number, which counts all returns of the node. The
// day is that of the node's clock, which may be wrong, and set back between two returns: the number alone says which came later.
var returnName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-[1-9]\d{0,5})?$`)

// IsReturn tells whether a folder below Returned is called as those with records are.
func IsReturn(name string) bool { return returnName.MatchString(name) }

// Returns are the folders with the records of jobs that ended with a return to the factory, in a state folder, the oldest first.
func Returns(state string) (folders []string) {
	entries, _ := os.ReadDir(filepath.Join(state, ReturnedFolder)) // there is none until a node comes back
	for _, entry := range entries {
		if entry.IsDir() && IsReturn(entry.Name()) {
			folders = append(folders, filepath.Join(state, ReturnedFolder, entry.Name()))
		}
	}
	slices.SortFunc(folders, func(a, b string) int {
		return cmp.Or(returnNumber(a)-returnNumber(b), strings.Compare(a, b))
	})
	return folders
}

// returnNumber is the number of a return, 1 where its folder has none.
func returnNumber(folder string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(folder)[len(time.DateOnly):], "-"))
	if err != nil {
		return 1
	}
	return n
}

// NextReturn is the name for the folder of the next return. now gives it its day, and nothing else.
func NextReturn(state string, now time.Time) string {
	name, last := now.UTC().Format(time.DateOnly), 0
	if all := Returns(state); len(all) > 0 {
		last = max(len(all), returnNumber(all[len(all)-1]))
	}
	if last == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(last+1)
}
