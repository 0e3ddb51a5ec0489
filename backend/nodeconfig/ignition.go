package nodeconfig

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// ignitionVersion is one that every supported release of OpenShift reads.
const ignitionVersion = "3.2.0"

// Config is what of a MachineConfig's Ignition document matters here.
type Config struct {
	Files map[string]string // content by path
	Keys  []string          // SSH keys of the user core
}

// parseConfig reads the spec of a MachineConfig. A file whose content cannot be read, as one that lies elsewhere, is there
// without content.
func parseConfig(spec map[string]any) Config {
	c := Config{Files: map[string]string{}}
	files, _ := below(spec, "config", "storage")["files"].([]any)
	for _, f := range files {
		file, _ := f.(map[string]any)
		contents := below(file, "contents")
		c.Files[text(file, "path")] = decode(text(contents, "source"), text(contents, "compression"))
	}
	users, _ := below(spec, "config", "passwd")["users"].([]any)
	for _, u := range users {
		user, _ := u.(map[string]any)
		if text(user, "name") != "core" {
			continue
		}
		keys, _ := user["sshAuthorizedKeys"].([]any)
		for _, k := range keys {
			if key, ok := k.(string); ok {
				c.Keys = append(c.Keys, strings.TrimSpace(key))
			}
		}
	}
	return c
}

// decode reads a data URL (RFC 2397), the only kind of source that MachineConfigs hold.
func decode(source, compression string) string {
	rest, ok := strings.CutPrefix(source, "data:")
	head, body, found := strings.Cut(rest, ",")
	if !ok || !found {
		return ""
	}
	raw, err := url.PathUnescape(body)
	if err != nil {
		return ""
	}
	content := []byte(raw)
	if strings.HasSuffix(head, ";base64") {
		if content, err = base64.StdEncoding.DecodeString(raw); err != nil {
			return ""
		}
	}
	if compression == "gzip" {
		unzipped, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return ""
		}
		if content, err = io.ReadAll(io.LimitReader(unzipped, 1<<20)); err != nil {
			return ""
		}
	}
	return string(content)
}

// fileConfig is the Ignition document of one file, mode in the decimal notation that JSON forces.
func fileConfig(path, content string) map[string]any {
	return map[string]any{
		"ignition": map[string]any{"version": ignitionVersion},
		"storage": map[string]any{"files": []any{map[string]any{
			"path": path, "mode": 0o644, "overwrite": true,
			"contents": map[string]any{"source": "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(content))},
		}}},
	}
}

// keysConfig is the Ignition document of SSH keys. The operator makes one line of a file of each, so that a key of several lines
// is a Problem (SSH-LNE).
func keysConfig(keys []string) (map[string]any, error) {
	list := make([]any, len(keys))
	for i, k := range keys {
		if k == "" || !utf8.ValidString(k) || strings.ContainsFunc(k, func(r rune) bool { return !unicode.IsPrint(r) && r != '\t' }) {
			return nil, &problem.Problem{
				Code: "SSH-LNE", Summary: message.T("An SSH key is not one line of text."),
				Fix: message.T("Correct spec.sshKeys: one line of an authorized_keys file each."),
			}
		}
		list[i] = k
	}
	return map[string]any{
		"ignition": map[string]any{"version": ignitionVersion},
		"passwd":   map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": list}}},
	}, nil
}
