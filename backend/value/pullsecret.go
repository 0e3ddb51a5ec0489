package value

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// PullSecret is a dockerconfigjson: credentials by registry. What it does not know is kept.
type PullSecret struct {
	Auths map[string]json.RawMessage // by registry, each an Entry; kept to the byte
	rest  map[string]json.RawMessage
}

// Entry is what a registry is logged in to with: user and password in Auth (see DecodeAuth), or apart.
type Entry struct {
	Auth     string `json:"auth"`
	Username string `json:"username"`
	Password string `json:"password"`
}

// ReadPullSecret reads one; an empty text has no registries. It does not tell why a text is none: the decoder's error would quote it.
func ReadPullSecret(text []byte) (p PullSecret, ok bool) {
	p.Auths = map[string]json.RawMessage{}
	if len(text) == 0 {
		return p, true
	}
	if json.Unmarshal(text, &p.rest) != nil || p.rest == nil {
		return PullSecret{}, false
	}
	var auths map[string]json.RawMessage
	if raw, there := p.rest["auths"]; there && json.Unmarshal(raw, &auths) != nil {
		return PullSecret{}, false
	}
	maps.Copy(p.Auths, auths)
	return p, true
}

// Registry is what a key of a pull secret stands for: a registry, or the beginning of a repository's name. Older tools wrote the address of
// an API, with its path; without http:// or https:// a path is that of a repository. Docker's registry has three names (containers/image
// pkg/docker/config/config.go, normalizeAuthFileKey and normalizeRegistry).
func Registry(key string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(key, "http://"), "https://")
	if name != key {
		name, _, _ = strings.Cut(name, "/")
	}
	if host, rest, _ := strings.Cut(name, "/"); rest == "" {
		name = host
	}
	if name == "registry-1.docker.io" || name == "index.docker.io" {
		return "docker.io"
	}
	return name
}

// JSON writes it.
func (p PullSecret) JSON() ([]byte, error) {
	auths, err := json.Marshal(p.Auths)
	if err != nil {
		return nil, fmt.Errorf("encoding the credentials: %w", err)
	}
	whole := maps.Clone(p.rest)
	if whole == nil {
		whole = map[string]json.RawMessage{}
	}
	whole["auths"] = auths
	data, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("encoding the pull secret: %w", err)
	}
	return data, nil
}

// Complete is an entry as every program of a node reads it. The kubelet also takes user and password apart, and an auth without padding
// (kubernetes, pkg/credentialprovider/config.go); containers/image, by which CRI-O and podman log in, finds no credentials in the one, and
// fails with the other (pkg/docker/config/config.go, decodeDockerAuth). An entry that is complete stays to the byte.
func Complete(entry json.RawMessage) json.RawMessage {
	var e Entry
	var fields map[string]json.RawMessage
	if json.Unmarshal(entry, &e) != nil || json.Unmarshal(entry, &fields) != nil || fields == nil {
		return entry
	}
	plain := e.Username + ":" + e.Password
	if e.Auth == "" && (e.Username == "" || e.Password == "") {
		return entry
	}
	if e.Auth != "" {
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(e.Auth, "="))
		if _, padded := base64.StdEncoding.DecodeString(e.Auth); padded == nil || err != nil {
			return entry
		}
		plain = string(decoded)
	}
	fields["auth"], _ = json.Marshal(base64.StdEncoding.EncodeToString([]byte(plain))) // a text
	whole, err := json.Marshal(fields)
	if err != nil {
		return entry
	}
	return whole
}

// What may be wrong with an auth.
var (
	ErrNotBase64 = errors.New("an auth is not base64")
	ErrNotAPair  = errors.New("an auth is not user:password")
)

// DecodeAuth reads the auth of a dockerconfigjson: base64 of user:password, with or without padding (see Complete). Older tools
// end the password with zero bytes. Its errors, ErrNotBase64 and ErrNotAPair, hold nothing of the value.
func DecodeAuth(auth string) (user, password string, err error) {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(auth, "="))
	if err != nil {
		return "", "", ErrNotBase64
	}
	user, password, _ = strings.Cut(string(plain), ":")
	password = strings.TrimRight(password, "\x00")
	if user == "" || password == "" {
		return "", "", ErrNotAPair
	}
	return user, password, nil
}
