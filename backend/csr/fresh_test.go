package csr_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/csr"
	"touchdown/backend/kube/kubetest"
)

// Each failed start of a kubelet leaves a request, and a jump of the clock one for the old time: only the newest is for a key
// that the kubelet still has.
func TestOnlyTheNewestRequestIsApproved(t *testing.T) {
	api, c := kubetest.New(t)
	now := time.Now()
	put := func(name string, made time.Time, make maker, decided bool) {
		a, spec := make()
		r := a.build(t, spec)
		r.TypeMeta = metav1.TypeMeta{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"}
		r.Name, r.CreationTimestamp = name, metav1.NewTime(made)
		if decided {
			r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: "True", Reason: "other"}}
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		api.Put("/apis/certificates.k8s.io/v1/certificatesigningrequests/"+name, string(b))
	}
	strangers := 0
	own := func(e csr.Expect) []string {
		t.Helper()
		names, left, err := csr.Look(t.Context(), c, e)
		if err != nil || len(left) != strangers {
			t.Fatal(names, left, err)
		}
		all, err := c.Certificates.CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		needless := csr.Needless(all.Items, e)
		for _, r := range all.Items {
			if why, is := needless[r.Name]; len(r.Status.Conditions) == 0 && (is == slices.Contains(names, r.Name) || is && why.String() == "") {
				t.Errorf("%s is needless: %t, %q; own are %s", r.Name, is, why, names)
			}
		}
		return names
	}
	e := sno()
	e.Now = now
	put("client-1", now.Add(-time.Hour), client, false)
	put("client-2", now.Add(-time.Minute), client, false)
	put("serving-1", now.Add(-2*time.Hour), serving, false)
	if got := own(e); !slices.Equal(got, []string{"client-2", "serving-1"}) {
		t.Errorf("own are %v", got)
	}
	// The newest was approved already: the older ones are still for lost keys.
	put("client-2", now.Add(-time.Minute), client, true)
	if got := own(e); !slices.Equal(got, []string{"serving-1"}) {
		t.Errorf("own are %v", got)
	}
	// One from the time when the clock was wrong must not keep the real one waiting for ever.
	put("client-9", now.Add(72*time.Hour), client, true)
	put("client-3", now, client, false)
	if got := own(e); !slices.Equal(got, []string{"client-3", "serving-1"}) {
		t.Errorf("own are %v", got)
	}
	// Another node asks as the same bootstrap user, later: that says nothing of this node's request.
	strangers = 1
	put("foreign", now.Add(time.Second), func() (ask, certificatesv1.CertificateSigningRequestSpec) {
		a, spec := client()
		a.template.Subject = subject("system:node:intruder", "system:nodes")
		return a, spec
	}, false)
	if got := own(e); !slices.Equal(got, []string{"client-3", "serving-1"}) {
		t.Errorf("with a stranger's request own are %v", got)
	}
}
