package report

// Fastest and Slowest bound a Pace. They are bounds of a guess: a node that seems slower has waited for something that its plan
// did not know, such as a person.
const Fastest, Slowest = 0.4, 4.0

// Pace is how much longer than planned the work took, both in seconds: 1 is as planned.
func Pace(took, planned float64) float64 { return max(Fastest, min(took/planned, Slowest)) }
