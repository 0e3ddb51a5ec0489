package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/steps/event"
	"touchdown/steps/offered"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// withdrawTime is how long the end of an offer may take whose command was stopped.
const withdrawTime = 5 * time.Second

// serveBundle has the engine offer a bundle, and waits until that is over.
func (c *connection) serveBundle(cmd *cobra.Command, life time.Duration) error {
	client := c.client()
	told, err := client.Export(cmd.Context(), session.Document(offered.Document(life)))
	if err != nil {
		return explainClient(err)
	}
	var b offered.Bundle
	if err := json.Unmarshal(told, &b); err != nil {
		return fmt.Errorf("reading the engine's answer: %w", err)
	}
	if len(b.URLs) == 0 {
		return errors.New("the engine told no address")
	}
	text := fmt.Sprintf("%s\n%s, %d bytes, SHA-256 %s\nFor %s, once, without encryption. Ctrl-C ends it.\n", strings.Join(b.URLs, "\n"), b.Name, b.Bytes, b.SHA256, life)
	if err := printText(cmd, text); err != nil { // the address was not shown
		return errors.Join(err, endOffer(cmd.Context(), client))
	}
	over, err := untilOver(cmd.Context(), client, b.URLs[0])
	if err != nil && cmd.Context().Err() != nil {
		return errors.Join(errors.New("the offer was ended before the bundle was fetched"), endOffer(cmd.Context(), client))
	}
	if err != nil {
		return explainClient(err)
	}
	text = ""
	for _, f := range over.Fetches {
		text += fmt.Sprintf("%s %s fetched %d of %d bytes\n", f.At.Format(time.RFC3339), f.From, f.Sent, over.Bytes)
	}
	if err := printText(cmd, text); err != nil {
		return err
	}
	if over.Ended != offered.Taken {
		return errors.New("nobody fetched the whole bundle before the offer ended")
	}
	return nil
}

// endOffer ends the offer of a command that was stopped.
func endOffer(ctx context.Context, client session.Session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	_, err := client.Export(ctx, offered.End)
	return err // it is joined with what stopped the command
}

// errOver ends a stream of events.
var errOver = errors.New("the offer is over")

// untilOver follows the engine until the offer of an address has ended, also because another one took its place.
func untilOver(ctx context.Context, client session.Session, url string) (over *offered.Bundle, err error) {
	s, err := client.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	ended := func(s *view.Snapshot) error {
		if s.Offer == nil || len(s.Offer.URLs) == 0 || s.Offer.URLs[0] != url {
			over = &offered.Bundle{Ended: offered.Withdrawn}
			return errOver
		}
		if over = s.Offer; over.Ended != "" {
			return errOver
		}
		return nil
	}
	if err = ended(s); err == nil {
		err = client.Events(ctx, "", s.Seq, func([]event.Event) error {
			s, err := client.Snapshot(ctx)
			if err != nil {
				return err
			}
			return ended(s)
		})
	}
	if errors.Is(err, errOver) {
		err = nil
	}
	return over, err
}
