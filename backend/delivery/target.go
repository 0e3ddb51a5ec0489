package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"touchdown/backend/host"
)

// Target is the monitor, and how it is reached. It holds secrets: it is kept in a file of mode 0600, and printed nowhere.
type Target struct {
	URL        string `json:"url"`
	Token      string `json:"token,omitempty"` // sent as a bearer token, over HTTPS alone
	CA         string `json:"ca,omitempty"`    // PEM; trusted beside the system's authorities
	Cert       string `json:"cert,omitempty"`  // PEM; the node's own certificate for the monitor
	Key        string `json:"key,omitempty"`
	HTTPProxy  string `json:"httpProxy,omitempty"`
	HTTPSProxy string `json:"httpsProxy,omitempty"`
	NoProxy    string `json:"noProxy,omitempty"`
}

// Secrets are the texts of the target that must not be shown.
func (t Target) Secrets() []string {
	var texts []string
	for _, s := range []string{t.Token, t.Key, t.HTTPProxy, t.HTTPSProxy} {
		if s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// Aim says where deliveries go. What an earlier target refused is tried again.
func (o *Outbox) Aim(t Target) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	old, err := o.target()
	if err == nil && old == t {
		return nil
	}
	if old.URL != t.URL { // what another monitor took is no news of this one
		if err := o.folder.Remove(lastFile); err != nil {
			return unkept(err)
		}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encoding the monitor's settings: %w", err)
	}
	if err := o.folder.WriteFiles(host.File{Path: targetFile, Data: append(text, '\n'), Perm: 0o600}); err != nil {
		return unkept(err)
	}
	clear(o.tries)
	o.count()
	o.stir()
	return nil
}

// Target tells where deliveries go; the zero value where no monitor is set, or its settings cannot be read.
func (o *Outbox) Target() Target {
	t, _ := o.target()
	return t
}

func (o *Outbox) target() (t Target, err error) {
	data, err := o.file(targetFile, maxTarget)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err != nil {
		return Target{}, fmt.Errorf("reading the monitor's settings: %w", err)
	}
	return t, nil
}

// Forget removes the target with its secrets, and all that waits.
func (o *Outbox) Forget() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	names, err := o.folder.Names() // the temporary ones too: a power cut may have left one with the token
	for _, name := range append(names, targetFile) {
		err = errors.Join(err, o.folder.Remove(name))
	}
	clear(o.tries)
	o.count()
	return err
}
