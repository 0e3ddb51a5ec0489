//go:build !race

// Package race tells tests whether the race detector watches them. It keeps a shadow of all memory, and makes programs several times as
// slow and as large (go.dev/doc/articles/race_detector), so that what is measured under it is bounded by other numbers.
package race

// On tells that the race detector watches this program.
const On = false

// Memory is how many times as much memory a program has under it, at most.
const Memory = 1
