//go:build race

package probe_test

// peakKiB is what the process may have resident under the race detector, which keeps a shadow of all memory.
const peakKiB = 96 << 10
