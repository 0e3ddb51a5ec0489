package kube

import "testing"

// TestFailing fails when the answer of an API that is not ready, a screen full, is passed on unchanged.
func TestFailing(t *testing.T) {
	const body = "[+]ping ok\n[-]etcd failed: reason withheld\n[-]etcd-readiness failed: reason withheld\n" +
		"[+]poststarthook/rbac ok\n[-]informer-sync failed: reason withheld\n[-]shutdown failed\nreadyz check failed\n"
	if got := failing(body); got.String() != "etcd, etcd-readiness, informer-sync, 1 more" {
		t.Errorf("what fails: %q", got)
	}
	if got := failing("ok"); got.String() != "" {
		t.Errorf("nothing fails, but: %q", got)
	}
}
