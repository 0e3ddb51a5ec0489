package steps

import (
	"context"
	"slices"
	"strings"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/media"
	"touchdown/backend/media/envelope"
)

// bakeMedia has the node trust the keys that sign site media, and makes its own key, for which media are sealed.
type bakeMedia struct {
	Keys []byte // public halves; nil: those that the bench line was told, if any
}

var (
	_ Planner = (*bakeMedia)(nil)
	_ Undoer  = (*bakeMedia)(nil)
)

// ID names the step in the journal.
func (*bakeMedia) ID() string { return "bake-media" }

// Title says what the step does.
func (*bakeMedia) Title() message.Text { return message.T("Lay the keys for site media") }

// keys are those to lay, none where nobody named any.
func (s *bakeMedia) keys(node *backend.Node) ([]byte, error) {
	if s.Keys != nil {
		return s.Keys, nil
	}
	return media.Of(node.Host).Chosen()
}

// Plan tells the keys that the node will trust.
func (s *bakeMedia) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	keys, err := s.keys(node)
	if err != nil || keys == nil {
		return Plan{}, err
	}
	trust, err := envelope.ParseTrust(keys, nil)
	if err != nil {
		return Plan{}, err
	}
	now, err := media.Of(node.Host).Trusts()
	if err != nil || slices.Equal(now, trust.IDs()) {
		return Plan{}, err
	}
	return Plan{Changes: []Change{{
		What: message.T("Keys that sign site media"), Old: message.Data(strings.Join(now, ", ")), New: message.Data(strings.Join(trust.IDs(), ", ")),
	}}}, nil
}

// Run lays the keys.
func (s *bakeMedia) Run(_ context.Context, node *backend.Node, report Report) error {
	keys, err := s.keys(node)
	if err != nil || keys == nil {
		return err
	}
	known := media.Of(node.Host)
	changed, err := known.Lay(keys)
	if err != nil || !changed {
		return err
	}
	trusted, err := known.Trusts()
	if err != nil {
		return err
	}
	recipient, err := known.Recipient()
	if err != nil {
		return err
	}
	report.Say(message.F("Site media signed with %s are trusted. Media for this node alone are sealed for %s.", strings.Join(trusted, ", "), recipient))
	return nil
}

// Undo takes the keys away, and with them what the node has used.
func (*bakeMedia) Undo(_ context.Context, node *backend.Node, report Report) error {
	known := media.Of(node.Host)
	recipient, err := known.Recipient()
	if err != nil || recipient == "" {
		return err
	}
	if err := known.Forget(); err != nil {
		return err
	}
	report.Say(message.T("The keys for site media are removed."))
	return nil
}
