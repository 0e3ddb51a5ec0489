package host

import (
	"encoding/json"
	"slices"
)

// Managed tells whether the Machine Config Operator laid a file. Its daemon compares such files with what it laid whenever it
// starts and while it runs; one that differs takes the node out of all further changes (Degraded), and only an administrator
// gets it back. So they are changed through the cluster alone.
func (m *Machine) Managed(path string) bool {
	b, err := m.ReadFile("/etc/machine-config-daemon/currentconfig")
	if err != nil {
		return false
	}
	var config struct {
		Spec struct {
			Config struct {
				Storage struct {
					Files []struct {
						Path string `json:"path"`
					} `json:"files"`
				} `json:"storage"`
			} `json:"config"`
		} `json:"spec"`
	}
	if json.Unmarshal(b, &config) != nil {
		return true // a node that has one but not one that can be read: better nothing is written
	}
	files := config.Spec.Config.Storage.Files
	return slices.ContainsFunc(files, func(f struct {
		Path string `json:"path"`
	},
	) bool {
		return f.Path == path
	})
}
