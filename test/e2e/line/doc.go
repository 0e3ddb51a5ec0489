// Package line holds what happens to a node on the factory's bench line: the whole list to the seal, and its image store
// seeded, rehearsed, kept, pruned, moved, damaged and fixed.
package line
