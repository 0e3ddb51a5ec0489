package node

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
)

// UseRegistry makes the node trust a registry's authority and log in there. CRI-O reads both files at every pull. The authority
// is not where the Machine Config Operator has them, which removes what the cluster does not know. Without a user the node
// does not log in.
func (m *Machine) UseRegistry(host string, ca []byte, user, password string) error {
	if err := m.WriteFile(path.Join("/etc/containers/certs.d", host, "ca.crt"), ca, 0o644); err != nil {
		return err
	}
	type login struct {
		Auth string `json:"auth"`
	}
	auths := map[string]login{}
	if user != "" {
		auths[host] = login{base64.StdEncoding.EncodeToString([]byte(user + ":" + password))}
	}
	data, err := json.Marshal(map[string]any{"auths": auths})
	if err != nil {
		return fmt.Errorf("encoding the registry's credentials: %w", err)
	}
	return m.WriteFile("/var/lib/kubelet/config.json", data, 0o600)
}
