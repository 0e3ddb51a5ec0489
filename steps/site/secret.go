package site

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted stands for a secret that is set, wherever a secret would be printed. It is refused as a secret's value.
const Redacted = "<set>"

// Secret is a text that never prints itself: fmt, slog, JSON and YAML show Redacted. string(s) gives the value.
type Secret string

// Format prints Redacted for every verb; without it %q or %x would show the value.
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, s.String())
}

// String returns Redacted, or "" when nothing is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// LogValue keeps the secret out of structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps the secret out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML keeps the secret out of YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }
