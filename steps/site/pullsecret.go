package site

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/message"
	"touchdown/backend/value"
)

// PullSecret reports what is wrong with a dockerconfigjson. Its errors name registries and places, never a value.
func PullSecret(s string) error {
	secret, ok := value.ReadPullSecret([]byte(s))
	if !ok || len(secret.Auths) == 0 {
		return noPullSecret(s)
	}
	if f := twice(s, secret); f != nil {
		return f
	}
	auths := secret.Auths
	for i, host := range slices.Sorted(maps.Keys(auths)) {
		if f := checkAuth(auths[host]); f != nil {
			f.Msg = message.F("has for %s %s", registryName(host, i), f.Msg)
			return f
		}
	}
	return nil
}

// twice refuses a pull secret that has something twice: which of the two counts depends on the program that reads it. quay.io:443 is another
// registry than quay.io, as in the name of an image.
func twice(s string, secret value.PullSecret) *Error {
	fix := message.T("keep one of them")
	if again, ok := errors.AsType[*value.Twice](value.OneMeaningIn([]byte(s), inPullSecret)); ok {
		line, column := lineAndColumn(s, again.At+1)
		return fault(fix, message.F("has the same key twice, the second time in its line %d, column %d", line, column))
	}
	seen := map[string]message.Text{}
	for i, host := range slices.Sorted(maps.Keys(secret.Auths)) {
		name := strings.ToLower(value.Registry(host))
		if first, ok := seen[name]; ok {
			return fault(fix, message.F("has one registry twice, as %s and %s", first, registryName(host, i)))
		}
		seen[name] = registryName(host, i)
	}
	return nil
}

// inPullSecret tells where two keys of the same name matter: among the top-level keys and inside auths. Others, headers for instance, belong
// to other programs.
func inPullSecret(keys []string) bool { return len(keys) == 0 || keys[0] == "auths" }

// noPullSecret is why a text is none.
func noPullSecret(s string) *Error {
	dec := json.NewDecoder(strings.NewReader(s))
	var fields map[string]json.RawMessage
	err := dec.Decode(&fields)
	var bad *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case s == "":
		return fault(message.T("paste the pull secret"), message.T("is missing"))
	case looksEncoded(s):
		return fault(message.T("decode it first: base64 -d"), message.T("is still base64 encoded, as in a Secret's data"))
	case !strings.HasPrefix(strings.TrimSpace(s), "{") && errors.As(err, &bad):
		return fault(message.T("paste all of it, from { to }"), message.T("is not a pull secret"))
	case errors.As(err, &bad):
		line, column := lineAndColumn(s, int(bad.Offset))
		return fault(message.T("paste the whole pull secret again"), message.F("is not JSON from its line %d, column %d on", line, column))
	case errors.As(err, &wrong), err == nil && fields == nil:
		return fault(message.T("paste the whole pull secret again"), message.T("is JSON, but no object in braces"))
	case err != nil:
		return fault(message.T("paste the whole pull secret again"), message.T("is JSON that is cut off"))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fault(message.T("remove what follows"), message.T("has more text after the JSON object"))
	}
	raw, ok := fields["auths"]
	if !ok {
		return missingAuths(fields)
	}
	var auths map[string]json.RawMessage
	if json.Unmarshal(raw, &auths) != nil {
		return fault(message.T(`write {"auths":{"REGISTRY":{"auth":"..."}}}`), message.T("has auths that are not a group of registries"))
	}
	return fault(message.T("download the pull secret again"), message.T("has no registry in its auths"))
}

func missingAuths(fields map[string]json.RawMessage) *Error {
	if kind := fields["kind"]; bytes.Equal(kind, []byte(`"Secret"`)) {
		return fault(message.T("use the decoded value of its .dockerconfigjson"), message.T("is a whole Secret object"))
	}
	if _, old := fields[".dockerconfigjson"]; old {
		return fault(message.T("use the value of .dockerconfigjson, decoded"), message.T("is the data of a Secret object"))
	}
	return fault(message.T("download the pull secret again"), message.T("has no auths"))
}

// checkAuth follows the kubelet and containers/image: user and password stand in auth, or apart.
func checkAuth(raw json.RawMessage) *Error {
	var a value.Entry
	fix := message.T("log in again with podman login and take its auth.json")
	if json.Unmarshal(raw, &a) != nil || bytes.Equal(raw, []byte("null")) {
		return fault(fix, message.T("an entry that is not credentials"))
	}
	if a.Auth == "" {
		if a.Username == "" || a.Password == "" {
			return fault(fix, message.T("neither an auth nor a username with a password"))
		}
		return nil
	}
	switch _, _, err := value.DecodeAuth(a.Auth); {
	case errors.Is(err, value.ErrNotBase64):
		return fault(fix, message.T("an auth that is not base64"))
	case err != nil:
		return fault(fix, message.T("an auth that is not user:password"))
	}
	return nil
}

// registryName repeats only what looks like the name of a registry; anything may stand in its place.
func registryName(host string, i int) message.Text {
	plain := strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789.-:/_") == ""
	if plain && len(host) <= maxDNSName && strings.ContainsAny(host, ".:") {
		return message.Data(shown(host))
	}
	return message.F("registry %d", i+1)
}

func looksEncoded(s string) bool {
	decoded, err := base64.StdEncoding.DecodeString(s)
	return err == nil && bytes.HasPrefix(bytes.TrimSpace(decoded), []byte("{"))
}

func lineAndColumn(s string, offset int) (line, column int) {
	before := s[:max(0, min(offset, len(s))-1)]
	return strings.Count(before, "\n") + 1, len(before) - strings.LastIndex(before, "\n")
}
