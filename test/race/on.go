//go:build race

package race

// On tells that the race detector watches this program.
const On = true

// Memory is how many times as much memory a program has under it, at most.
const Memory = 4
