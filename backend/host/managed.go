package host

import (
	"encoding/json"
	"path"

	"touchdown/backend/layout/rhcos"
)

// unitDir is where the Machine Config Operator's daemon lays units.
const unitDir = rhcos.Units

// ignition is what a rendered MachineConfig lays on the node, as far as paths go.
type ignition struct {
	Storage struct {
		Files []struct {
			Path string `json:"path"`
		} `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []struct {
			Name     string `json:"name"`
			Contents string `json:"contents"`
			Dropins  []struct {
				Name string `json:"name"`
			} `json:"dropins"`
		} `json:"units"`
	} `json:"systemd"`
}

// Managed tells whether the Machine Config Operator laid a file. Its daemon compares such files with what it laid whenever it
// starts and while it runs; one that differs takes the node out of all further changes (Degraded), and only an administrator
// gets it back. So they are changed through the cluster alone.
func Managed(m *Machine, file string) bool {
	b, err := m.ReadFile(rhcos.CurrentConfig)
	if err != nil {
		return false
	}
	var config struct {
		Spec struct {
			Config ignition `json:"config"`
		} `json:"spec"`
	}
	if json.Unmarshal(b, &config) != nil {
		return true // a node that has one but not one that can be read: better nothing is written
	}
	return config.Spec.Config.lays(file)
}

func (c *ignition) lays(file string) bool {
	for _, f := range c.Storage.Files {
		if f.Path == file {
			return true
		}
	}
	for _, u := range c.Systemd.Units {
		if u.Contents != "" && path.Join(unitDir, u.Name) == file {
			return true
		}
		for _, d := range u.Dropins {
			if path.Join(unitDir, u.Name+".d", d.Name) == file {
				return true
			}
		}
	}
	return false
}

// HasKubelet tells whether a kubelet belongs to this machine at all. Where none does, as on a laptop with --local, only the cluster can
// be looked at.
func HasKubelet(m *Machine) bool { return m.Exists("/var/lib/kubelet") }
