// Package seeded holds what a node's seeded image store bears, with a real CRI-O on a booted node: losses of power, kills
// at any moment, and bad input.
package seeded
