// Package handout is what the people of a site are given at the end: the login of their cluster.
package handout

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Ask says what is asked for.
type Ask struct {
	Password   bool `json:"password,omitempty"`
	Kubeconfig bool `json:"kubeconfig,omitempty"`
}

// LogIn is how people get into the cluster. It goes to the console that asked for it and nowhere else: printed by fmt or a log it is
// "<login>".
type LogIn struct {
	Console    string    `json:"console,omitempty"`    // URL; "" where the cluster has no console
	API        string    `json:"api"`                  // URL
	User       string    `json:"user"`                 //
	Password   string    `json:"password,omitempty"`   //
	Why        string    `json:"why,omitempty"`        // why there is no password, in a sentence
	Kubeconfig string    `json:"kubeconfig,omitempty"` // the file
	Until      time.Time `json:"until,omitzero"`       // until when the API accepts the kubeconfig
	Server     time.Time `json:"serverUntil,omitzero"` // until when the API's own certificate is good
}

// Format prints nothing of it, for every verb.
func (LogIn) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "<login>") }

// LogValue keeps it out of logs.
func (LogIn) LogValue() slog.Value { return slog.StringValue("<login>") }
