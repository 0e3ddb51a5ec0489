// Package offered is about a support bundle that the node offers on its network, as consoles see it.
package offered

import (
	"fmt"
	"strings"
	"time"

	"touchdown/backend/offer"
)

// Bundle is a support bundle that is, or was, offered.
type Bundle = offer.View

// Fetch is one try to fetch it.
type Fetch = offer.Fetch

// Why the offer ended.
const (
	Taken     = offer.Taken
	Late      = offer.Late
	Withdrawn = offer.Withdrawn
)

// The documents of a session by which an offer begins and ends; both are a Bundle in JSON.
const (
	Begin = "bundle.offered" // "/5m" behind it tells for how long
	End   = "bundle.withdrawn"
)

// Life is for how long a bundle is offered where nobody says it.
const Life = offer.Life

// Document names the document that begins an offer.
func Document(life time.Duration) string { return Begin + "/" + life.String() }

// Of reads what Document wrote; other text is an error for who typed it.
func Of(document string) (life time.Duration, err error) {
	text := strings.TrimPrefix(strings.TrimPrefix(document, Begin), "/")
	if text == "" {
		return Life, nil
	}
	life, err = time.ParseDuration(text)
	if err != nil || life < time.Minute || life > offer.Longest {
		return 0, fmt.Errorf("a bundle is offered for 1m to %s: %q", offer.Longest, text)
	}
	return life, nil
}
