package drift

import (
	"encoding/json"
	"fmt"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
)

// note is what is read of the MachineConfig that the daemon has noted on the disk. It counts for the daemon more than the Node's annotation
// (pkg/daemon/daemon.go, getCurrentConfigOnDisk).
type note struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Config json.RawMessage `json:"config"` // Ignition
	} `json:"spec"`
}

// readNote fails with an error that is fs.ErrNotExist on a machine that no daemon has configured.
func readNote(m *host.Machine) (n note, err error) {
	b, err := m.ReadFile(rhcos.CurrentConfig)
	if err != nil {
		return n, err
	}
	if json.Unmarshal(b, &n) != nil { // the error may quote it
		return n, fmt.Errorf("%s is damaged", rhcos.CurrentConfig)
	}
	return n, nil
}
