// Package progress is how far long work is, for the people who wait for it. Whatever waits or counts tells it in this one form.
package progress

import "touchdown/backend/message"

// Progress is counted in units of work, never read from log text.
type Progress struct {
	Done    int64        `json:"done"`
	Total   int64        `json:"total,omitempty"`  // 0: not known
	Unit    string       `json:"unit,omitempty"`   // "operators", "MiB"
	Waiting message.Text `json:"waiting,omitzero"` // what we are waiting for, in plain words
	Usual   float64      `json:"usual,omitempty"`  // seconds that this wait usually takes at most; 0: not known
}
