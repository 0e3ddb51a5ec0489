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
	sortReturns(folders)
	return folders
}

// sortReturns puts the oldest first. Older releases numbered the returns of each day; the numbers since are higher than the count of all that
// were there. So a number that has more folders up to it than itself is an old one: those are in the order of their days, and come first. Old
// ones of which some were removed by hand may look like new ones, by their names alone, and are then in the order of their numbers.
func sortReturns(folders []string) {
	upTo := map[string]int{}
	for _, a := range folders {
		for _, b := range folders {
			if returnNumber(b) <= returnNumber(a) {
				upTo[a]++
			}
		}
	}
	perDay := func(folder string) bool { return upTo[folder] > returnNumber(folder) }
	slices.SortFunc(folders, func(a, b string) int {
		byNumber := cmp.Compare(returnNumber(a), returnNumber(b))
		switch {
		case perDay(a) && perDay(b):
			return cmp.Or(strings.Compare(returnDay(a), returnDay(b)), byNumber)
		case perDay(a):
			return -1
		case perDay(b):
			return 1
		}
		return cmp.Or(byNumber, strings.Compare(a, b))
	})
}

// returnDay is the day in the name of a return's folder.
func returnDay(folder string) string { return filepath.Base(folder)[:len(time.DateOnly)] }

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
	name, all := now.UTC().Format(time.DateOnly), Returns(state)
	last := len(all)
	for _, folder := range all {
		last = max(last, returnNumber(folder))
	}
	if last == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(last+1)
}
