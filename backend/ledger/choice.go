package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"touchdown/backend/host"
	"touchdown/backend/layout"
)

// Choice is what `touchdown factory` was told about the ledger, for the seal, which comes three reboots later.
type Choice struct {
	File   string `json:"file"`             // absolute; "": there is no ledger
	Shared string `json:"shared,omitempty"` // why this node may have the identity of another one
	Stay   string `json:"stay,omitempty"`   // on the bench line, for which the reason holds
}

const choice = layout.FactoryState + "/ledger.json"

// Keep writes the choice down on the node.
func (c Choice) Keep(m *host.Machine) error {
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding the choice of a ledger: %w", err)
	}
	return m.WriteFile(choice, append(data, '\n'), 0o600)
}

// Chosen reads the choice. A reason of another stay on the bench line has ended with that.
func Chosen(m *host.Machine, stay string) (Choice, error) {
	data, err := m.ReadFile(choice)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Choice{}, nil
	case err != nil:
		return Choice{}, err
	}
	var c Choice
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("reading the choice of a ledger: %w", err)
	}
	if c.Stay != stay {
		c.Shared = ""
	}
	return c, nil
}
