package registry

import (
	"testing"

	"touchdown/backend/host/hosttest"
)

// TestTheNodesCopy: the operator copies the secret unchanged, incomplete entries too, so a wait for a complete one would not end.
func TestTheNodesCopy(t *testing.T) {
	const apart, whole = `{"auths":{"a":{"password":"p","username":"u"}}}`, `{"auths":{"a":{"auth":"dTpw","password":"p","username":"u"}}}`
	m := hosttest.New(t).Machine
	if has(m, []byte(apart)) {
		t.Error("a node without the file has the credentials")
	}
	for _, c := range []struct {
		onNode, inCluster string
		want              bool
	}{{apart, apart, true}, {apart, whole, false}, {whole, whole, true}, {whole, `{"auths":{"b":{"auth":"x"}}}`, false}} {
		if err := m.WriteFile(onDisk, []byte(c.onNode), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := has(m, []byte(c.inCluster)); got != c.want {
			t.Errorf("%s on the node, %s in the cluster: %t", c.onNode, c.inCluster, got)
		}
	}
	if Has([]byte(apart), []byte(apart)) || !Has([]byte(whole), []byte(apart)) {
		t.Error("the site's credentials are those that CRI-O can log in with")
	}
}

// TestCredentialsThatTheNodeKeeps: only those that the cluster has no more. What the operator adds, and what the cluster got from someone
// else meanwhile, stays.
func TestCredentialsThatTheNodeKeeps(t *testing.T) {
	const a, ab = `{"auths":{"a":{"auth":"dTpw"}}}`, `{"auths":{"a":{"auth":"dTpw"},"https://b":{"auth":"dTpx","password":"q","username":"u"}}}`
	const b = `{"auths":{"b":{"username":"u","password":"q"}}}`
	m := hosttest.New(t).Machine
	if keeps(m, []byte(a), []byte(b)) {
		t.Error("a node without the file keeps something")
	}
	for _, c := range []struct {
		onNode, inCluster, gone string
		want                    bool
	}{{ab, a, b, true}, {ab, ab, b, false}, {a, a, b, false}, {ab, a, "", false}, {ab, a, `{"auths":{"b":{"auth":"other"}}}`, false}} {
		if err := m.WriteFile(onDisk, []byte(c.onNode), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := keeps(m, []byte(c.inCluster), []byte(c.gone)); got != c.want {
			t.Errorf("%s on the node, %s in the cluster, %s gone: %t", c.onNode, c.inCluster, c.gone, got)
		}
	}
}
