// Package handout is what the people of a site are given at the end: the login of their cluster.
package handout

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"

	"touchdown/backend/message"
)

// Ask says what is asked for.
type Ask struct {
	Password   bool `json:"password,omitempty"`
	Kubeconfig bool `json:"kubeconfig,omitempty"`
}

// LogIn is how people get into the cluster. It goes to the console that asked for it and nowhere else: printed by fmt or a log it is
// "<login>".
type LogIn struct {
	Console    string       `json:"console,omitempty"`    // URL; "" where the cluster has no console
	API        string       `json:"api"`                  // URL
	User       string       `json:"user"`                 //
	Password   string       `json:"password,omitempty"`   //
	Why        message.Text `json:"why,omitzero"`         // why there is no password, in a sentence
	Kubeconfig string       `json:"kubeconfig,omitempty"` // the file
	Until      time.Time    `json:"until,omitzero"`       // until when the API accepts the kubeconfig
	Server     time.Time    `json:"serverUntil,omitzero"` // until when the API's own certificate is good
}

type plainLogIn LogIn

// logInJSON is a LogIn on the wire: Why in English, and beside it which message it is.
type logInJSON struct {
	*plainLogIn
	Messages message.Messages `json:"messages,omitempty"`
}

// MarshalJSON writes it with its message.
func (l LogIn) MarshalJSON() ([]byte, error) {
	return json.Marshal(logInJSON{(*plainLogIn)(&l), message.Of(&l)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *LogIn) UnmarshalJSON(data []byte) error {
	in := logInJSON{plainLogIn: (*plainLogIn)(l)}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("reading the login: %w", err)
	}
	message.Restore(l, in.Messages)
	return nil
}

// Format prints nothing of it, for every verb.
func (LogIn) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "<login>") }

// LogValue keeps it out of logs.
func (LogIn) LogValue() slog.Value { return slog.StringValue("<login>") }
