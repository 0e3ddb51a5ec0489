package steps

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/login"
	"touchdown/steps/site"
)

const (
	factoryPassword = "aaaaa-bbbbb-ccccc-ddddd"
	kubeadminPath   = "/api/v1/namespaces/kube-system/secrets/kubeadmin"
)

// keptReport is a Report that keeps what a step saves, notes and tells.
type keptReport struct {
	Report
	files  map[string][]byte
	checks map[string]Check
	said   []string
}

func newKept() *keptReport {
	return &keptReport{files: map[string][]byte{}, checks: map[string]Check{}}
}

func (r *keptReport) Progress(Progress)             {}
func (r *keptReport) Check(c Check)                 { r.checks[c.ID] = c }
func (r *keptReport) Say(f string, a ...any)        { r.said = append(r.said, fmt.Sprintf(f, a...)) }
func (r *keptReport) Note(k string, v []byte) error { r.files["note-"+k] = v; return nil }

func (r *keptReport) Save(k string, v []byte) error {
	if r.files[k] == nil {
		r.files[k] = v
	}
	return nil
}

func (r *keptReport) Saved(k string) ([]byte, error) {
	if v, ok := r.files[k]; ok {
		return v, nil
	}
	return nil, fs.ErrNotExist
}

func (r *keptReport) Noted(k string) ([]byte, error) { return r.Saved("note-" + k) }

// kubeadmin is a node whose cluster has the factory's password.
func kubeadmin(t *testing.T) (*kubetest.API, *backend.Node) {
	t.Helper()
	api, c := kubetest.New(t)
	hash, err := login.Hash(factoryPassword)
	if err != nil {
		t.Fatal(err)
	}
	api.Put("/api/v1/namespaces/kube-system", `{"kind":"Namespace","apiVersion":"v1","metadata":{"creationTimestamp":"2026-01-01T12:00:00Z"}}`)
	api.Put(kubeadminPath, `{"metadata":{"creationTimestamp":"2026-01-01T12:10:00Z"},"data":{"kubeadmin":"`+base64.StdEncoding.EncodeToString([]byte(hash))+`"}}`)
	return api, &backend.Node{Kube: c}
}

func opens(t *testing.T, node *backend.Node, password string) bool {
	t.Helper()
	k, err := login.Look(t.Context(), node.Kube)
	if err != nil {
		t.Fatal(err)
	}
	return k.Accepts(password)
}

// TestTheFactorysPasswordIsReplaced: once, also when the write was lost before or after it; undo brings it back to the byte.
func TestTheFactorysPasswordIsReplaced(t *testing.T) {
	api, node := kubeadmin(t)
	before := api.Get(kubeadminPath, "data")
	s, r := &siteLogin{Site: site.New()}, newKept()
	plan, err := s.Plan(t.Context(), node)
	if err != nil || len(plan.Changes) != 1 || plan.Changes[0].Old != "the factory's" {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	api.Changes()
	lost := false // the first write does not reach the API, after the note was made
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch || lost {
			return false
		}
		lost = true
		return kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "not now")
	}
	if err := s.Run(t.Context(), node, r); err == nil {
		t.Fatal("a write that was lost is no error")
	}
	for range 2 {
		if err := s.Run(t.Context(), node, r); err != nil {
			t.Fatal(err)
		}
	}
	if changes := api.Changes(); len(changes) != 1 {
		t.Errorf("the changes are %q", changes)
	}
	if opens(t, node, factoryPassword) || r.checks["kubeadmin"].Status != check.Pass {
		t.Errorf("the factory's password opens the cluster; the check is %+v", r.checks["kubeadmin"])
	}
	if err := s.Undo(t.Context(), node, r); err != nil || api.Get(kubeadminPath, "data") != before {
		t.Errorf("after undo %s, %v", api.Get(kubeadminPath, "data"), err)
	}
}

// TestThePasswordOfOthersStays: where the owner has removed kubeadmin or has another log-in nothing is written, and it is said.
func TestThePasswordOfOthersStays(t *testing.T) {
	for name, test := range map[string]struct {
		set    func(*kubetest.API)
		status Status
		says   string
	}{
		"removed": {func(a *kubetest.API) { a.Drop(kubeadminPath) }, check.Skip, "The cluster's owner has removed kubeadmin. No password is made."},
		"provider": {func(a *kubetest.API) {
			a.Put("/apis/config.openshift.io/v1/oauths/cluster", `{"kind":"OAuth","apiVersion":"config.openshift.io/v1","spec":{"identityProviders":[{"name":"ldap","type":"LDAP"}]}}`)
		}, check.Warn, "People log in with the cluster's identity provider ldap. The factory's password of kubeadmin is still accepted."},
	} {
		t.Run(name, func(t *testing.T) {
			api, node := kubeadmin(t)
			test.set(api)
			s, r := &siteLogin{Site: site.New()}, newKept()
			plan, err := s.Plan(t.Context(), node)
			if err != nil || !strings.HasPrefix(plan.Changes[0].New, "unchanged. ") {
				t.Errorf("the plan is %+v, %v", plan, err)
			}
			api.Changes()
			if err := errors.Join(s.Run(t.Context(), node, r), s.Undo(t.Context(), node, r)); err != nil {
				t.Fatal(err)
			}
			if ch := r.checks["kubeadmin"]; ch.Status != test.status || ch.Observed != test.says {
				t.Errorf("the check is %+v", ch)
			}
			if changes := api.Changes(); len(changes) > 0 || len(r.files) > 0 {
				t.Errorf("changed %q, kept %d files", changes, len(r.files))
			}
		})
	}
}

// TestAFactorysPasswordMayBeKept: by the site config alone.
func TestAFactorysPasswordMayBeKept(t *testing.T) {
	cfg := site.New()
	if s := (&siteLogin{Site: cfg}); s.Skip() != "" {
		t.Errorf("without a word in the site config: %s", s.Skip())
	}
	if err := cfg.Set("spec.credentials.kubeadmin", "keep"); err != nil {
		t.Fatal(err)
	}
	if s := (&siteLogin{Site: cfg}); s.Skip() == "" {
		t.Error("keep does not keep it")
	}
}
