package csr_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/csr"
	"touchdown/backend/kube/kubetest"
)

func answer(w http.ResponseWriter, object []byte) bool {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(object)
	return true
}

// A request that the cluster removes, or someone else decides, between the list and the approval needs no decision any more: the others are
// approved all the same, and it is told neither as approved nor as left alone.
func TestWhatIsDecidedMeanwhile(t *testing.T) {
	const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests/"
	for name, meanwhile := range map[string]func(w http.ResponseWriter, r *http.Request, object []byte) bool{
		"removed before it is read again": func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			return r.URL.Path == requests+"client" && kubetest.Refuse(w, http.StatusNotFound, "NotFound", "gone")
		},
		"removed before it is approved": func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			return r.URL.Path == requests+"client/approval" && kubetest.Refuse(w, http.StatusNotFound, "NotFound", "gone")
		},
		"denied by someone": func(w http.ResponseWriter, r *http.Request, object []byte) bool {
			if r.Method != http.MethodGet || r.URL.Path != requests+"client" {
				return false
			}
			return answer(w, bytes.Replace(object, []byte(`"status":{}`), []byte(`"status":{"conditions":[{"type":"Denied","status":"True"}]}`), 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			api, c := kubetest.New(t)
			objects := map[string][]byte{}
			for name, make := range map[string]maker{"client": client, "serving": serving} {
				a, spec := make()
				r := a.build(t, spec)
				r.TypeMeta = metav1.TypeMeta{APIVersion: certificatesv1.SchemeGroupVersion.String(), Kind: "CertificateSigningRequest"}
				r.Name = name
				b, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				api.Put(requests+name, string(b))
				objects[name] = b
			}
			api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == requests+"serving/approval" { // the client sends protobuf, which the stand-in does not read
					return answer(w, objects["serving"])
				}
				return meanwhile(w, r, objects["client"])
			}
			out, err := csr.Approve(t.Context(), c, sno())
			if err != nil || !slices.Equal(out.Approved, []string{"serving"}) || len(out.Left) != 0 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
