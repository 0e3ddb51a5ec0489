package layout

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// returnName is what a folder of records is called: the day, and from the second one of a day on a number.
var returnName = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-\d+)?$`)

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
	const day = len("2006-01-02")
	slices.SortFunc(folders, func(a, b string) int {
		a, b = filepath.Base(a), filepath.Base(b)
		return cmp.Or(strings.Compare(a[:day], b[:day]), len(a)-len(b), strings.Compare(a, b))
	})
	return folders
}
