package steps

import (
	"slices"
	"strings"

	"touchdown/backend"
	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/message"
)

// mediaKeys are the public halves of the keys that sign site media; nil: those that the bench line was told, if any. The node
// also gets its own key pair, for which media are sealed.
type mediaKeys []byte

// keys are those to lay, none where nobody named any.
func (s mediaKeys) keys(node *backend.Node) ([]byte, error) {
	if s != nil {
		return s, nil
	}
	return media.Of(node.Host).Chosen()
}

// plan tells the keys that the node will trust.
func (s mediaKeys) plan(node *backend.Node) (Plan, error) {
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

// lay lays the keys.
func (s mediaKeys) lay(node *backend.Node, report Report) error {
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

// takeAway takes the keys away, those for releases too, and the site config that the factory put in. The list of what the node has used
// stays.
func (mediaKeys) takeAway(node *backend.Node, report Report) error {
	known := media.Of(node.Host)
	recipient, err := known.Recipient()
	if err != nil {
		return err
	}
	if releases, err := media.ReleasesOf(node.Host).Trust(); recipient == "" && releases == nil && err == nil {
		return nil
	}
	if err := known.Forget(); err != nil {
		return err
	}
	report.Say(message.T("The keys for site media and releases are removed, and the site config in the node, where there was one."))
	return nil
}
