package main

// The limits: median, 90 % and the largest of what the code kept to when they were set. Lower them when it does better.
var (
	fileLimit     = [3]int{130, 235, 305}
	functionLimit = [3]int{11, 27, 57}
)

const (
	exportedLimit = 40 // of a package
	methodLimit   = 25 // of a type
	twinLimit     = 70 // pairs of files
)

// larger are the packages and types above the limits, with the count that none may pass. Each is to shrink until its row can go.
var larger = map[string]int{
	"steps/site": 67, // a schema: it has as many names as the document has parts
}

// ordered are the packages whose files have an order in which each uses only those before it.
var ordered = []string{"tui", "steps"}
