package steps

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hub"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps/handout"
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
	checks map[string]check.Check
	said   []string
}

func newKept() *keptReport {
	return &keptReport{files: map[string][]byte{}, checks: map[string]check.Check{}}
}

func (r *keptReport) Progress(progress.Progress)    {}
func (r *keptReport) Check(c check.Check)           { r.checks[c.ID] = c }
func (r *keptReport) Say(text message.Text)         { r.said = append(r.said, text.String()) }
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
	if err != nil || len(plan.Changes) != 1 || plan.Changes[0].Old.String() != "the factory's" {
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
		t.Fatal("a write that was lost is not an error")
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
	if err := s.Undo(t.Context(), node, r); err != nil || api.Get(kubeadminPath, "data") != before ||
		strings.Contains(api.Get(kubeadminPath, "metadata"), "touchdown.dev") {
		t.Errorf("after undo %s, %v", api.Get(kubeadminPath, "data"), err)
	}
}

// TestThePasswordOfOthersStays: where the owner has removed kubeadmin or has another login nothing is written, and it is said.
func TestThePasswordOfOthersStays(t *testing.T) {
	for name, test := range map[string]struct {
		set    func(*kubetest.API)
		status check.Status
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
			if err != nil || !strings.HasPrefix(plan.Changes[0].New.String(), "unchanged. ") {
				t.Errorf("the plan is %+v, %v", plan, err)
			}
			api.Changes()
			if err := errors.Join(s.Run(t.Context(), node, r), s.Undo(t.Context(), node, r)); err != nil {
				t.Fatal(err)
			}
			if ch := r.checks["kubeadmin"]; ch.Status != test.status || ch.Observed.String() != test.says {
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
	api, node := kubeadmin(t)
	s, r := named("spec.credentials.kubeadmin=keep"), newKept()
	plan, err := s.Plan(t.Context(), node)
	if err != nil || !strings.HasPrefix(plan.Changes[0].New.String(), "unchanged. The site config keeps") {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	api.Changes()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if changes := api.Changes(); len(changes) > 0 || r.checks["kubeadmin"].Status != check.Skip {
		t.Errorf("changed %q; the check is %+v", changes, r.checks["kubeadmin"])
	}
	if got, err := s.Give(t.Context(), node, r, handout.Ask{Password: true}, nil); err != nil || got.Password != "" || got.Why == (message.Text{}) {
		t.Errorf("a console is given %q, %v", got.Password, err)
	}
}

// named is a step for a domain that the stand-in's certificate is for.
func named(set ...string) *siteLogin {
	s := &siteLogin{Site: site.New()}
	s.Site.Spec.ClusterName, s.Site.Spec.BaseDomain = "example", "com"
	for _, path := range set {
		path, value, _ := strings.Cut(path, "=")
		if err := s.Site.Set(path, value); err != nil {
			panic(err)
		}
	}
	return s
}

// hides fails where something that was given lies in what the engine keeps or tells.
func hides(t *testing.T, r *keptReport, given ...string) {
	t.Helper()
	all := fmt.Sprint(r.checks, r.said)
	for _, b := range r.files {
		all += string(b)
		if decoded, err := base64.StdEncoding.DecodeString(string(b)); err == nil {
			all += string(decoded)
		}
	}
	for _, secret := range given {
		if secret == "" || strings.Contains(all, secret) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Error("what was given is kept or told, or empty")
		}
	}
}

// TestGive: the password is made when someone asks, is the same for who asks again, and another one when nobody knows it any more.
func TestGive(t *testing.T) {
	api, node := kubeadmin(t)
	node.Now = time.Now
	api.Put("/apis/operator.openshift.io/v1/consoles/cluster", `{"spec":{"managementState":"Managed"}}`)
	s, r := named("spec.credentials.kubeconfigDays=2"), newKept()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	ask := handout.Ask{Password: true, Kubeconfig: true}
	give := func(ask handout.Ask, last *handout.LogIn) *handout.LogIn {
		t.Helper()
		got, err := s.Give(t.Context(), node, r, ask, last)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := give(ask, nil)
	if first.API != "https://api.example.com:6443" || first.Console != "https://console-openshift-console.apps.example.com" || first.User != "kubeadmin" {
		t.Errorf("%s %s %s", first.API, first.Console, first.User)
	}
	if left := time.Until(first.Until); left > 48*time.Hour || left < 47*time.Hour || first.Server.IsZero() {
		t.Errorf("it lasts until %v, the server until %v", first.Until, first.Server)
	}
	if again := give(ask, first); again.Password != first.Password || again.Kubeconfig != first.Kubeconfig || !again.Until.Equal(first.Until.Truncate(time.Second)) {
		t.Error("who asks twice is given something else")
	}
	if !opens(t, node, first.Password) {
		t.Error("the password is not accepted")
	}
	next := give(handout.Ask{Password: true}, nil)
	if next.Password == first.Password || !opens(t, node, next.Password) || next.Kubeconfig != "" {
		t.Error("a password that nobody knows is not replaced, or more was given than was asked for")
	}
	if stale := give(handout.Ask{Password: true}, first); stale.Password == first.Password {
		t.Error("a password that is no longer accepted is given")
	}
	hides(t, r, first.Password, first.Kubeconfig, next.Password)
	if text := fmt.Sprintf("%v %+v %s %q", first, *first, first, *first); strings.Contains(text, first.Password) {
		t.Error("a login prints itself")
	}
	if err := s.Undo(t.Context(), node, r); err != nil || !opens(t, node, factoryPassword) {
		t.Errorf("after undo the factory's password is refused: %v", err)
	}
}

// TestNoConsoleShowsIt: where the site config says so, the rest is given all the same.
func TestNoConsoleShowsIt(t *testing.T) {
	api, node := kubeadmin(t)
	s, r := named("spec.credentials.show=false"), newKept()
	api.Changes()
	got, err := s.Give(t.Context(), node, r, handout.Ask{Password: true}, nil)
	if err != nil || got.Password != "" || got.Why == (message.Text{}) || got.API == "" || len(api.Changes()) > 0 {
		t.Errorf("%+v, %v", got.Why, err)
	}
}

// TestTheHubsSecret: it holds what opens the cluster, is written once, follows what is given at a console, and goes with an undo.
func TestTheHubsSecret(t *testing.T) {
	api, node := kubeadmin(t)
	node.Now = time.Now
	s, r := named("spec.credentials.clusterSecret=true"), newKept()
	ref := hub.LoginRef("example.com")
	path := "/api/v1/namespaces/" + ref.Namespace + "/secrets/" + ref.Name
	for range 2 {
		if err := s.Run(t.Context(), node, r); err != nil {
			t.Fatal(err)
		}
	}
	if changes := api.Changes(); len(changes) != 3 { // the password, the signer, the Secret
		t.Errorf("the changes are %q", changes)
	}
	has, err := hub.ReadLogin(t.Context(), node.Kube, "example.com")
	if err != nil || !opens(t, node, has.Password) || has.Kubeconfig == "" {
		t.Errorf("the secret does not open the cluster: %v", err)
	}
	got, err := s.Give(t.Context(), node, r, handout.Ask{Password: true}, nil)
	if err != nil || got.Password != has.Password {
		t.Errorf("a console is given another password: %v", err)
	}
	if err := replacePassword(t.Context(), node.Kube, r, login.NewPassword()); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Give(t.Context(), node, r, handout.Ask{Password: true}, nil); err != nil {
		t.Fatal(err)
	}
	if now, err := hub.ReadLogin(t.Context(), node.Kube, "example.com"); err != nil || now.Password != got.Password || now.Kubeconfig != has.Kubeconfig {
		t.Errorf("the secret does not follow: %v", err)
	}
	hides(t, r, has.Password, has.Kubeconfig, got.Password)
	if err := s.Undo(t.Context(), node, r); err != nil || api.Get(path) != "" || !opens(t, node, factoryPassword) {
		t.Errorf("after undo the secret is there: %v", err)
	}
	if api.Get("/api/v1/namespaces/openshift-config/configmaps/admin-kubeconfig-client-ca") != "" {
		t.Error("after undo the signer of the kubeconfig is there")
	}
}
