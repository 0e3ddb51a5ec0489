package steps

import (
	"context"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/media"
	"touchdown/backend/media/envelope"
)

// siteMedium offers the answers that a stick or image brings. Nothing of it is taken before a person asks for it.
type siteMedium struct{ watcher *media.Watcher }

var _ asker = (*siteMedium)(nil)

// ID names the step in the journal.
func (*siteMedium) ID() string { return "site-medium" }

// Title says what the step is about.
func (*siteMedium) Title() message.Text { return message.T("Take answers from a medium") }

// The paths of what is asked. They are no part of the site config.
const (
	mediumPassphrase = "medium.passphrase"
	mediumVolume     = "medium.volume"
)

// Fields asks which medium, and for the passphrase of one that is sealed with it; for nothing while no medium is there.
func (s *siteMedium) Fields() []Field {
	if s.watcher == nil {
		return nil
	}
	var choices []Choice
	sealed := false
	for _, f := range s.watcher.Usable() {
		sealed = sealed || f.Sealed() == envelope.WithPassphrase
		choices = append(choices, Choice{Value: f.Device, Label: message.F("%s, signed with key %s", f.Name(), f.Signer)})
	}
	if len(choices) == 0 {
		return nil
	}
	return []Field{
		{
			Path: mediumPassphrase, Kind: Secret, Label: message.T("Passphrase of the medium"), Optional: true, Beside: true,
			Visible: func() bool { return sealed }, Help: message.T("The one that was sent with it. Type it before you take its answers."),
		},
		{
			Path: mediumVolume, Kind: Pick, Label: message.T("Answers from a medium"), Optional: true, Beside: true, Choices: choices,
			Help: message.T("Choose one and take its answers. What you typed stays, and the review shows all of it."),
			Act: &Act{
				Label: message.T("Take answers"), Doing: message.T("its answers are being read"),
				Fill: func(name string, beside func(string) string) (*media.Taken, error) {
					return s.watcher.Take(name, beside(mediumPassphrase))
				},
			},
		},
	}
}

// Run has nothing to do.
func (*siteMedium) Run(context.Context, *backend.Node, Report) error { return nil }
