// Package auth reads the credentials that the node has for registries. Nothing in it ever prints one.
package auth

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/backend/value"
)

// File is where OpenShift keeps the node's credentials; CRI-O reads the same file (global_auth_file) for mirrors.
const File = rhcos.PullSecret

// limit is far above a pull secret of dozens of registries.
const limit = 4 << 20

// Login is the credentials for one registry.
type Login struct{ User, Password string }

// String keeps credentials out of every log and error.
func (Login) String() string { return host.Masked }

// GoString does so for %#v.
func (Login) GoString() string { return host.Masked }

// MarshalJSON does so for JSON.
func (Login) MarshalJSON() ([]byte, error) { return []byte(`"` + host.Masked + `"`), nil }

// Logins are a node's credentials, by registry or by the beginning of a repository's name. The zero value has none.
type Logins struct{ by map[string]Login }

// String keeps them out of every log and error: fmt does not ask what lies in fields that are not exported.
func (Logins) String() string { return host.Masked }

// GoString does so for %#v.
func (Logins) GoString() string { return host.Masked }

// Read reads the node's credentials. A node without the file has none.
func Read(m *host.Machine) (Logins, error) {
	if !m.Exists(File) {
		return Logins{}, nil
	}
	b, whole, err := m.ReadHead(File, limit)
	if err != nil {
		return Logins{}, err
	}
	l, ok := parse(b)
	if !whole || !ok {
		return Logins{}, &problem.Problem{
			Code:    "PUL-LGNS",
			Summary: message.F("The node's file of registry credentials (%s) is damaged.", File),
			Fix:     message.T("Give the pull secret again, or look at the machine-config operator, which writes the file."),
		}
	}
	return l, nil
}

// parse never tells why it failed: an error of the decoder would quote what it met. Of two keys for one registry that which is written as the
// registry is called counts, as in containers/image (pkg/docker/config/config.go, findCredentialsInFile), else the first by the alphabet.
func parse(b []byte) (Logins, bool) {
	file, ok := value.ReadPullSecret(b)
	l := Logins{by: map[string]Login{}}
	for _, key := range slices.Sorted(maps.Keys(file.Auths)) {
		var a value.Entry
		if json.Unmarshal(file.Auths[key], &a) != nil {
			return Logins{}, false
		}
		login := Login{a.Username, a.Password}
		if user, password, err := value.DecodeAuth(a.Auth); err == nil {
			login = Login{user, password}
		}
		name := value.Registry(key)
		if _, there := l.by[name]; login.User != "" && (!there || name == key) {
			l.by[name] = login
		}
	}
	return l, ok
}

// For returns the credentials for a repository (registry/path): its own, else that of the nearest above it, else of the registry.
func (l Logins) For(name string) (Login, bool) {
	for {
		if login, ok := l.by[value.Registry(name)]; ok {
			return login, true
		}
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return Login{}, false
		}
		name = name[:slash]
	}
}

// Mask takes all credentials out of a text that someone else wrote.
func (l Logins) Mask(text string) string {
	var secrets []string
	for _, login := range l.by {
		// Base64 without its padding is found where the text has the padding too.
		for _, secret := range []string{login.Password, base64.RawStdEncoding.EncodeToString([]byte(login.User + ":" + login.Password))} {
			if len(secret) >= 4 { // a shorter one would cut words in pieces and is not a secret
				secrets = append(secrets, secret)
			}
		}
	}
	return value.Mask(text, secrets, host.Masked)
}
