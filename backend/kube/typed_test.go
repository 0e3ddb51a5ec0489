package kube_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/kube/kubetest"
)

// TestKindsAreAsked holds what is asked, to the byte, and what becomes of the answers.
func TestKindsAreAsked(t *testing.T) {
	api, c := kubetest.New(t)
	var asked []string
	answer := `{"metadata":{"name":"a","resourceVersion":"7"},"status":{"token":"t"},"items":[{"metadata":{"name":"b"}}]}`
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/gone") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return true
		}
		_, _ = io.WriteString(w, answer)
		return true
	}
	ctx, get := t.Context(), metav1.GetOptions{}

	if o, err := c.Operator.IngressControllers("ns").Get(ctx, "a", get); err != nil || o.Name != "a" || o.ResourceVersion != "7" {
		t.Errorf("%+v, %v", o, err)
	}
	if l, err := c.Core.Events("").List(ctx, metav1.ListOptions{FieldSelector: "type=Warning", Limit: 3}); err != nil || len(l.Items) != 1 || l.Items[0].Name != "b" {
		t.Errorf("%+v, %v", l, err)
	}
	if o, err := c.Core.Nodes().Patch(ctx, "a", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{FieldManager: "me"}, "status"); err != nil || o.Name != "a" {
		t.Errorf("%+v, %v", o, err)
	}
	request := &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "6"}}
	if o, err := c.Certificates.CertificateSigningRequests().UpdateApproval(ctx, "a", request, metav1.UpdateOptions{}); err != nil || o.ResourceVersion != "7" {
		t.Errorf("%+v, %v", o, err)
	}
	token, err := c.Core.ServiceAccounts("ns").CreateToken(ctx, "a", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil || token.Status.Token != "t" {
		t.Errorf("%+v, %v", token, err)
	}
	if _, err := c.Config.DNSes().Get(ctx, "gone", get); !apierrors.IsNotFound(err) {
		t.Errorf("what is not there: %v", err)
	}
	answer = "<html>a proxy's page</html>"
	if o, err := c.Core.Secrets("ns").Get(ctx, "a", get); err == nil {
		t.Errorf("a page was taken for a Secret: %+v", o)
	}

	want := []string{
		"GET /apis/operator.openshift.io/v1/namespaces/ns/ingresscontrollers/a?timeout=30s",
		"GET /api/v1/events?fieldSelector=type%3DWarning&limit=3&timeout=30s",
		"PATCH /api/v1/nodes/a/status?fieldManager=me&timeout=30s {}",
		`PUT /apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval?timeout=30s {"kind":"CertificateSigningRequest","apiVersion":"certificates.k8s.io/v1","metadata":{"name":"a","resourceVersion":"6"},"spec":{"request":null,"signerName":""},"status":{}}`,
		`POST /api/v1/namespaces/ns/serviceaccounts/a/token?timeout=30s {"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","metadata":{},"spec":{"audiences":null,"expirationSeconds":null,"boundObjectRef":null},"status":{"token":"","expirationTimestamp":null}}`,
		"GET /apis/config.openshift.io/v1/dnses/gone?timeout=30s",
		"GET /api/v1/namespaces/ns/secrets/a?timeout=30s",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked\n%s\nwant\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
	}
}
