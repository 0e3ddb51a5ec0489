// Package figures writes down what was measured, each figure beside what it is measured against.
package figures

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
)

// Figure is one that was measured.
type Figure struct {
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	Against string  `json:"against"`
	Ratio   float64 `json:"ratio"` // value divided by what it is measured against
}

// Goal is a figure measured against the most that is allowed.
func Goal(value float64, unit string, most float64) Figure {
	return Figure{value, unit, fmt.Sprintf("goal: at most %g %s", most, unit), value / most}
}

// None is a figure of which there should be nothing.
func None(value float64, unit string) Figure {
	return Figure{value, unit, "goal: 0 " + unit, value}
}

// Beside is a figure measured against another one, in the same unit.
func Beside(value float64, unit, against string, other float64) Figure {
	return Figure{value, unit, against, value / other}
}

// Write leaves figures as JSON.
func Write(path string, all map[string]Figure) error {
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

// Table prints figures for people.
func Table(out io.Writer, name string, all map[string]Figure) {
	fmt.Fprintf(out, "\n%s\n", name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, n := range slices.Sorted(maps.Keys(all)) {
		f := all[n]
		fmt.Fprintf(w, "  %s\t%.3g %s\t%s\tratio %.2f\n", n, f.Value, f.Unit, f.Against, f.Ratio)
	}
	_ = w.Flush() // to a terminal
}
