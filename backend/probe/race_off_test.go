//go:build !race

package probe_test

// peakKiB is what the process may have resident. The engine, which does all else as well, may have 48 MiB.
const peakKiB = 24 << 10
