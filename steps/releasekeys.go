package steps

import (
	"slices"
	"strings"

	"touchdown/backend"
	"touchdown/backend/envelope"
	"touchdown/backend/media"
	"touchdown/backend/message"
)

// releaseKeys are the public halves of the keys that sign releases; nil: those that the bench line was told, if any.
type releaseKeys []byte

// ids are the keys to lay, and those that the node trusts now.
func (s releaseKeys) ids(node *backend.Node) (keys []byte, want, now []string, err error) {
	known := media.ReleasesOf(node.Host)
	if keys = s; keys == nil {
		if keys, err = known.Chosen(); err != nil || keys == nil {
			return nil, nil, nil, err
		}
	}
	trust, err := envelope.ParseReleaseTrust(keys, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	have, err := known.Trust()
	if err == nil && have != nil {
		now = have.IDs()
	}
	return keys, trust.IDs(), now, err
}

// plan tells the keys that the node will trust.
func (s releaseKeys) plan(node *backend.Node) (Plan, error) {
	keys, want, now, err := s.ids(node)
	if err != nil || keys == nil || slices.Equal(want, now) {
		return Plan{}, err
	}
	return Plan{Changes: []Change{{
		What: message.T("Keys that sign releases"), Old: message.Data(strings.Join(now, ", ")), New: message.Data(strings.Join(want, ", ")),
	}}}, nil
}

// lay lays the keys.
func (s releaseKeys) lay(node *backend.Node, report Report) error {
	keys, want, _, err := s.ids(node)
	if err != nil || keys == nil {
		return err
	}
	changed, err := media.ReleasesOf(node.Host).Lay(keys)
	if err == nil && changed {
		report.Say(message.F("Releases signed with %s are taken.", strings.Join(want, ", ")))
	}
	return err
}
