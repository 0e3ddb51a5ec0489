package main

import "testing"

// TestGuessesAreRound: a guess is said as people say it, and not as Go does.
func TestGuessesAreRound(t *testing.T) {
	for seconds, want := range map[float64]string{10: "10 s", 59.6: "1 min", 90: "1 min 30 s", 240: "4 min", 3900: "65 min"} {
		if got := roughly(seconds); got != want {
			t.Errorf("%v: %q, want %q", seconds, got, want)
		}
	}
}
