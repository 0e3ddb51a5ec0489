package login

import (
	"encoding/base64"
	"strings"
	"testing"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
)

const (
	systemPath = "/api/v1/namespaces/kube-system"
	secretPath = "/api/v1/namespaces/kube-system/secrets/kubeadmin"
	oauthPath  = "/apis/config.openshift.io/v1/oauths/cluster"
	authPath   = "/apis/config.openshift.io/v1/authentications/cluster"
)

// withSecret is a cluster whose kubeadmin has a password; the namespace is of noon.
func withSecret(t *testing.T, created, password string) (*kubetest.API, *kube.Cluster) {
	t.Helper()
	api, c := kubetest.New(t)
	api.Put(systemPath, `{"kind":"Namespace","apiVersion":"v1","metadata":{"creationTimestamp":"2026-01-01T12:00:00Z"}}`)
	hash, err := Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	api.Put(secretPath, `{"metadata":{"creationTimestamp":"`+created+`"},"data":{"kubeadmin":"`+base64.StdEncoding.EncodeToString([]byte(hash))+`"}}`)
	return api, c
}

func TestLook(t *testing.T) {
	const old = "aaaaa-bbbbb-ccccc-ddddd"
	for name, test := range map[string]struct {
		created      string
		set          func(*kubetest.API)
		gone, others string
	}{
		"as installed": {created: "2026-01-01T12:10:00Z"},
		"made again":   {created: "2026-01-01T13:00:01Z", gone: "made again"},
		"removed":      {created: "2026-01-01T12:10:00Z", set: func(a *kubetest.API) { a.Drop(secretPath) }, gone: "removed"},
		"no hash": {created: "2026-01-01T12:10:00Z", gone: "holds no password", set: func(a *kubetest.API) {
			a.Put(secretPath, `{"metadata":{"creationTimestamp":"2026-01-01T12:10:00Z"},"data":{"kubeadmin":"YQ=="}}`)
		}},
		"OIDC": {created: "2026-01-01T12:10:00Z", gone: "switched off (type OIDC)", set: func(a *kubetest.API) {
			a.Put(authPath, `{"kind":"Authentication","apiVersion":"config.openshift.io/v1","spec":{"type":"OIDC"}}`)
		}},
		"integrated": {created: "2026-01-01T12:10:00Z", set: func(a *kubetest.API) {
			a.Put(authPath, `{"kind":"Authentication","apiVersion":"config.openshift.io/v1","spec":{"type":"IntegratedOAuth"}}`)
		}},
		"a provider": {created: "2026-01-01T12:10:00Z", others: "identity provider site-ldap", set: func(a *kubetest.API) {
			a.Put(oauthPath, `{"kind":"OAuth","apiVersion":"config.openshift.io/v1","spec":{"identityProviders":[{"name":"site-ldap","type":"LDAP"}]}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			api, c := withSecret(t, test.created, old)
			if test.set != nil {
				test.set(api)
			}
			k, err := Look(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(k.Gone.String(), test.gone) || (k.Gone.String() == "") != (test.gone == "") ||
				!strings.Contains(k.Others.String(), test.others) || (k.Others.String() == "") != (test.others == "") {
				t.Errorf("%+v", k)
			}
			if k.Accepts(old) != (test.gone == "") || k.Accepts("aaaaa-bbbbb-ccccc-ddddx") {
				t.Error("it accepts another password than it should")
			}
			if changes := api.Changes(); len(changes) > 0 {
				t.Errorf("looking changed %q", changes)
			}
		})
	}
}

// TestReplace: the secret is changed where it is, once, and put back to the byte; what does not stay is told.
func TestReplace(t *testing.T) {
	api, c := withSecret(t, "2026-01-01T12:10:00Z", "aaaaa-bbbbb-ccccc-ddddd")
	before, uid := api.Get(secretPath, "data"), api.Get(secretPath, "metadata", "uid")
	next := NewPassword()
	hash, err := Hash(next)
	if err != nil {
		t.Fatal(err)
	}
	var original []byte
	save := func(_ kube.Ref, saved []byte) error { original = saved; return nil }
	for range 2 {
		if err := Replace(t.Context(), c, hash, save); err != nil {
			t.Fatal(err)
		}
	}
	if changes := api.Changes(); len(changes) != 1 || !strings.HasPrefix(changes[0], "PATCH ") {
		t.Errorf("the changes are %q", changes)
	}
	if api.Get(secretPath, "metadata", "uid") != uid {
		t.Error("it is another secret")
	}
	if strings.Contains(string(original), next) {
		t.Error("the saved original holds the password")
	}
	if k, err := Look(t.Context(), c); err != nil || !k.Accepts(next) || !k.Ours() {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := c.Restore(t.Context(), original); err != nil || api.Get(secretPath, "data") != before {
		t.Errorf("after undo %s, %v", api.Get(secretPath, "data"), err)
	}
	api.After = func(method, _ string) { // someone else writes it at once
		if method == "PATCH" {
			api.Put(secretPath, `{"metadata":{"creationTimestamp":"2026-01-01T12:10:00Z"},"data":{"kubeadmin":"YQ=="}}`)
		}
	}
	if err := Replace(t.Context(), c, hash, save); err == nil || !strings.Contains(err.Error(), "not the one that was put there") {
		t.Errorf("a password that did not stay: %v", err)
	}
}
