package operators

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Render reads lists of MachineConfigs and writes the Ignition config that the stand-in makes of each, so that a test can hold
// it against what the Machine Config Operator's own code makes.
func Render(r io.Reader, w io.Writer) error {
	decoder, encoder := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var q struct {
			Want []struct {
				Name   string
				Config map[string]any
			}
		}
		if err := decoder.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading MachineConfigs: %w", err)
		}
		in := poolInput{pullSecret: []byte("{}"), configs: map[string]string{}, specs: map[string]map[string]any{}}
		for _, c := range q.Want {
			in.configs[c.Name], in.specs[c.Name] = c.Name, map[string]any{"config": c.Config}
		}
		raw, err := in.ignition()
		if err != nil {
			return err
		}
		if err := encoder.Encode(json.RawMessage(raw)); err != nil {
			return fmt.Errorf("writing what was rendered: %w", err)
		}
	}
}
