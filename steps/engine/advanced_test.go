package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// proxied is a step without questions that works with answers of two pages.
type proxied struct{}

func (proxied) ID() string                                             { return "proxied" }
func (proxied) Title() message.Text                                    { return message.T("Use the proxy") }
func (proxied) Reads() []string                                        { return []string{"spec.proxy.httpsProxy", "spec.clusterName"} }
func (proxied) Run(context.Context, *backend.Node, steps.Report) error { return nil }

func withAdvanced() *world {
	w := newWorld()
	w.asks = func(cfg *site.Config) []steps.Stage {
		real := slices.DeleteFunc(steps.Site(cfg, steps.Wiring{}), func(s steps.Stage) bool { return !s.Advanced })
		return append(real, steps.Stage{ID: "proxied", Steps: []steps.Step{proxied{}}})
	}
	return w
}

// TestAdvancedStage: a console is told which stage is closed, on which page the first problem of a review can be fixed, and no secret
// that was typed there.
func TestAdvancedStage(t *testing.T) {
	eachIn(t, withAdvanced, func(t *testing.T, r *rig, s session.Session) {
		token := take(t, s)
		r.fill(t, s, token)
		must(t, s.Do(t.Context(), token, session.Action{Verb: session.Edit}))
		for _, set := range [][2]string{
			{"spec.networkConfig", "interfaces:\n  - name: eno1\n    type: ethernet\n    state: up\n    ipv4: {enabled: true, dhcp: true}\n"},
			{"spec.proxy.httpsProxy", "http://user:hunter2@proxy.example.com:99999"},
		} {
			must(t, s.Set(t.Context(), token, set[0], set[1]))
		}
		snapshot := reviewed(t, s, token)
		stage := snapshot.Stages[2]
		field := func(path string) view.Field {
			fields := stage.Steps[0].Fields
			return fields[slices.IndexFunc(fields, func(v view.Field) bool { return v.Path == path })]
		}
		if !stage.Advanced || snapshot.Stages[0].Advanced || snapshot.Stages[3].Steps[0].Asks != "entry" {
			t.Errorf("advanced %v, the first %v, asked on %q", stage.Advanced, snapshot.Stages[0].Advanced, snapshot.Stages[3].Steps[0].Asks)
		}
		if proxy := field("spec.proxy.httpsProxy"); proxy.Value != "" || !proxy.SecretSet || proxy.Problem.String() == "" {
			t.Errorf("the proxy is shown as %+v", proxy)
		}
		if v := field("spec.networkConfig"); v.Value == "" || v.Problem.String() != "" {
			t.Errorf("the network is shown as %+v", v)
		}
		if v := snapshot.Review; v.Page != "advanced" || len(v.Problems) != 1 || !strings.HasPrefix(v.Problems[0].String(), "Proxy for https ") {
			t.Errorf("the review leads to %q for %q", v.Page, v.Problems)
		}
		text, err := json.Marshal(snapshot)
		must(t, err)
		if strings.Contains(string(text), "hunter2") {
			t.Error("the proxy's password is in the snapshot")
		}
	})
}
