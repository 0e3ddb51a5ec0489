package steps

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/hub"
	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/login"
	"touchdown/backend/message"
	"touchdown/steps/handout"
	"touchdown/steps/site"
)

const (
	adminsPath = "/api/v1/namespaces/openshift-config/configmaps/admin-kubeconfig-client-ca"
	ownersWord = "owner-owner-owner-owner"
)

// ownerSets gives kubeadmin a password as the cluster's owner does: the annotation stays.
func ownerSets(t *testing.T, node *backend.Node, password string) {
	t.Helper()
	hash, err := login.Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	_, err = node.Kube.ChangePart(t.Context(), kube.Secret("kube-system", "kubeadmin"), "data", func(data map[string]any) error {
		data["kubeadmin"] = base64.StdEncoding.EncodeToString([]byte(hash))
		return nil
	}, func(kube.Ref, []byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
}

// TestUndoWithoutWhatTheOwnerRemoved: what is gone counts as put back, and that is said; other errors stay errors.
func TestUndoWithoutWhatTheOwnerRemoved(t *testing.T) {
	api, node := kubeadmin(t)
	node.Now = time.Now
	api.Put(adminsPath, `{"data":{"ca-bundle.crt":"# theirs\n"}}`)
	s, r := named(), newKept()
	if err := s.Run(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	for range 2 { // two changes of each object
		if _, err := s.Give(t.Context(), node, r, handout.Ask{Password: true, Kubeconfig: true}, nil); err != nil {
			t.Fatal(err)
		}
	}
	api.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		return kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "not now")
	}
	if err := s.Undo(t.Context(), node, r); err == nil {
		t.Error("an undo that the API refuses is not an error")
	}
	api.Fault = nil
	api.Drop(kubeadminPath)
	api.Drop(adminsPath)
	r.said = nil
	if err := s.Undo(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.said, "\n"); len(r.said) != 2 || !strings.Contains(all, "kubeadmin") || !strings.Contains(all, "admin-kubeconfig-client-ca") {
		t.Errorf("said %q", r.said)
	}
}

// TestTheSecondLanding: a hand-over forgets what was noted. The password of the first landing stays, the owner's stays and is told, and
// a console is given another one only in the place of one of ours.
func TestTheSecondLanding(t *testing.T) {
	api, node := kubeadmin(t)
	factory := api.Get(kubeadminPath, "metadata", "annotations")
	s, first := &siteLogin{Site: site.New()}, newKept()
	s.Site.Spec.ClusterName, s.Site.Spec.BaseDomain = "example", "com"
	if err := s.Run(t.Context(), node, first); err != nil {
		t.Fatal(err)
	}
	given, err := s.Give(t.Context(), node, first, handout.Ask{Password: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	marked := api.Get(kubeadminPath, "metadata", "annotations")
	if !strings.Contains(marked, "touchdown.dev/password") {
		t.Errorf("the annotations are %s", marked)
	}
	api.Changes()
	second := newKept()
	plan, err := s.Plan(t.Context(), node)
	if err != nil || !strings.HasPrefix(plan.Changes[0].New.String(), "unchanged. ") {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if err := s.Run(t.Context(), node, second); err != nil {
		t.Fatal(err)
	}
	if changes := api.Changes(); len(changes) > 0 || !opens(t, node, given.Password) || second.checks["kubeadmin"].Status != check.Pass {
		t.Errorf("changed %q; the check is %+v", changes, second.checks["kubeadmin"])
	}
	next, err := s.Give(t.Context(), node, second, handout.Ask{Password: true}, nil)
	if err != nil || !opens(t, node, next.Password) {
		t.Errorf("a password of ours that nobody knows is not replaced: %v", err)
	}
	if err := s.Undo(t.Context(), node, second); err != nil || !opens(t, node, given.Password) || api.Get(kubeadminPath, "metadata", "annotations") != marked {
		t.Errorf("after the second undo %s, %v", api.Get(kubeadminPath, "metadata", "annotations"), err)
	}
	ownerSets(t, node, ownersWord)
	api.Changes()
	third := newKept()
	if plan, err = s.Plan(t.Context(), node); err != nil || !strings.Contains(plan.Changes[0].New.String(), "owner has changed") {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
	if err := s.Run(t.Context(), node, third); err != nil {
		t.Fatal(err)
	}
	if ch := third.checks["kubeadmin"]; ch.Status != check.Skip || !strings.Contains(ch.Observed.String(), "owner has changed") {
		t.Errorf("the check is %+v", ch)
	}
	if got, err := s.Give(t.Context(), node, third, handout.Ask{Password: true}, nil); err != nil || got.Password != "" || got.Why == (message.Text{}) {
		t.Errorf("in the place of the owner's a console is given another: %v", err)
	}
	if err := s.Undo(t.Context(), node, first); err != nil || !opens(t, node, ownersWord) || len(api.Changes()) > 0 ||
		api.Get(kubeadminPath, "metadata", "annotations") != marked {
		t.Errorf("an undo changes the owner's password: %v", err)
	}
	ownerSets(t, node, given.Password) // another hash of it: still the owner's
	if k, err := login.Look(t.Context(), node.Kube); err != nil || !k.Changed() || k.Ours() {
		t.Errorf("%+v, %v", k, err)
	}
	if factory == marked {
		t.Error("the factory's secret is marked")
	}
}

// TestAHandOutThatFailsHalfway: the password stays when no kubeconfig can be made, and what was made is returned with a later error.
func TestAHandOutThatFailsHalfway(t *testing.T) {
	api, node := kubeadmin(t)
	node.Now = time.Now
	s, r := named("spec.credentials.clusterSecret=true"), newKept()
	ask := handout.Ask{Password: true, Kubeconfig: true}
	refuse := func(part string) {
		api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, part) {
				return false
			}
			return kubetest.Refuse(w, http.StatusForbidden, "Forbidden", "not now")
		}
	}
	refuse("/configmaps")
	if got, err := s.Give(t.Context(), node, r, ask, nil); err == nil || got != nil || !opens(t, node, factoryPassword) {
		t.Errorf("without a kubeconfig the password is replaced: %v", err)
	}
	refuse("/namespaces/openshift-config/secrets")
	got, err := s.Give(t.Context(), node, r, ask, nil)
	if err == nil || got == nil || !opens(t, node, got.Password) || got.Kubeconfig == "" {
		t.Fatalf("what was made is lost with the error %v", err)
	}
	api.Fault = nil
	again, err := s.Give(t.Context(), node, r, ask, got)
	if err != nil || again.Password != got.Password || again.Kubeconfig != got.Kubeconfig {
		t.Errorf("what was made is made again: %v", err)
	}
}

// TestAKubeconfigOfAnotherNameIsNotGiven: after the cluster was renamed one that was given before leads nowhere.
func TestAKubeconfigOfAnotherNameIsNotGiven(t *testing.T) {
	_, node := kubeadmin(t)
	node.Now = time.Now
	s, r, ask := named(), newKept(), handout.Ask{Kubeconfig: true}
	first, err := s.Give(t.Context(), node, r, ask, nil)
	if err != nil {
		t.Fatal(err)
	}
	old := *first
	old.Kubeconfig = strings.ReplaceAll(first.Kubeconfig, "https://api.example.com:6443", "https://api.old.example.com:6443")
	got, err := s.Give(t.Context(), node, r, ask, &old)
	if err != nil || got.Kubeconfig == old.Kubeconfig || !strings.Contains(got.Kubeconfig, "https://api.example.com:6443") {
		t.Errorf("one of another name is given: %v", err)
	}
}

// TestTheSecretsOfTwoDomains: an undo removes each of them.
func TestTheSecretsOfTwoDomains(t *testing.T) {
	api, node := kubeadmin(t)
	node.Now = time.Now
	s, r := named("spec.credentials.clusterSecret=true"), newKept()
	has := hub.Login{Password: factoryPassword, Kubeconfig: "x"}
	for _, domain := range []string{"one.example.com", "two.example.com", "one.example.com"} {
		if err := s.giver().publish(t.Context(), node.Kube, r, domain, hub.Login{}, handout.LogIn{Password: has.Password, Kubeconfig: has.Kubeconfig}); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Fields(string(r.files["note-"+publishedNote])); len(lines) != 2 {
		t.Errorf("noted %q", lines)
	}
	if err := s.Undo(t.Context(), node, r); err != nil {
		t.Fatal(err)
	}
	for _, domain := range []string{"one.example.com", "two.example.com"} {
		if ref := hub.LoginRef(domain); api.Get("/api/v1/namespaces/"+ref.Namespace+"/secrets/"+ref.Name) != "" {
			t.Errorf("the secret of %s is there", domain)
		}
	}
}
