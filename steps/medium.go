package steps

import (
	"touchdown/backend/check"
	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/message"
)

// The paths of what is asked about media. They are not part of the site config.
const (
	mediumPassphrase = "medium.passphrase"
	mediumVolume     = "medium.volume"
)

// mediumFields offer the answers that a stick or image brings, which are taken when a person asks for it: which medium, and the
// passphrase of one that is sealed with it. They ask for nothing while no medium is there.
func mediumFields(watcher *media.Watcher) []Field {
	if watcher == nil {
		return nil
	}
	var choices []Choice
	sealed := false
	for _, f := range watcher.Usable() {
		sealed = sealed || f.Sealed() == envelope.WithPassphrase
		choices = append(choices, Choice{Value: f.ID(), Label: message.F("%s, signed with key %s", f.Name(), f.Signer)})
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
				Fill: func(id string, beside func(string) string) (*media.Taken, error) {
					return watcher.Take(id, beside(mediumPassphrase))
				},
			},
		},
	}
}

// mediumChecks tell what the media are, and why one is not used. None stands against a start.
func mediumChecks(watcher *media.Watcher, tell func(check.Check)) {
	if watcher == nil {
		return
	}
	for _, f := range watcher.Found() {
		c := check.Check{ID: "medium-" + f.Device, Title: message.F("Medium %s", f.Name()), Status: check.Pass}
		switch {
		case f.Refused != nil:
			c.Status, c.Observed, c.Fix = check.Skip, f.Refused.Summary, f.Refused.Fix
		case watcher.Why(f) != message.Text{}:
			c.Status, c.Observed = check.Skip, message.F("starts nothing: %s", watcher.Why(f))
			c.Fix = message.T("Take its answers on the page Network, or fix the cause and put it in again.")
			if f.Baked() {
				c.Fix = message.T("Take its answers on the page Network, or fix the cause and restart the node.")
			}
		default:
			c.Observed = message.F("signed with key %s", f.Signer)
		}
		tell(c)
	}
}
