package value

import "strings"

// Nearest returns the known name that a mistyped one most likely means, or "". Case, "_" and "-" do not count, so the
// spelling of other documents (base_domain) is understood.
func Nearest(name string, known []string) string {
	plain := strings.NewReplacer("_", "", "-", "")
	fold := func(s string) string { return strings.ToLower(plain.Replace(s)) }
	const longest = 64 // no path of the schema is longer, and the distance takes time by length times length
	if len(name) > longest {
		return ""
	}
	best, bestDistance := "", 3
	for _, k := range known {
		d := distance(fold(name), fold(k))
		// One mistake in three letters would call everything similar.
		if d < bestDistance && d*3 < len(k) {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Levenshtein distance, where swapping two neighbours counts as one mistake.
func distance(a, b string) int {
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return prev[len(b)]
}
