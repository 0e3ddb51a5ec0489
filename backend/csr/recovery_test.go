package csr_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend/csr"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// TestApproveAfterLongStorage: a real kube-apiserver, whose node's client certificate expires under the open cluster, gives the
// kubelet its certificates all the same, by the account of the cluster's own recovery; with a renewed file that is over.
func TestApproveAfterLongStorage(t *testing.T) {
	cluster := bench.Start(t, bench.Options{})
	const life = 5 * time.Second
	begun, log := time.Now(), &strings.Builder{}
	if err := cluster.RenewNodeClient(life); err != nil {
		t.Fatal(err)
	}
	c, err := kube.Open(cluster.NodeKubeconfig(), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: wait.Timeout(time.Minute), Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	e, _, err := csr.Self(t.Context(), c, "not-the-name")
	if err != nil || c.Detour().String() != "" && time.Since(begun) < life {
		t.Fatal(err, c.Detour())
	}
	time.Sleep(time.Until(begun.Add(life + 2*time.Second)))
	out, err := csr.Approve(t.Context(), c, e)
	if err != nil || len(out.Approved) != 2 {
		t.Fatalf("%+v %v", out, err)
	}
	if d := c.Detour(); !strings.Contains(d.String(), "client certificate expired") || !strings.Contains(d.String(), "recovery account") {
		t.Errorf("it says %q", d)
	}
	t.Log(c.Detour())
	err = c.Until(t.Context(), kube.Wait{What: message.T("signing"), Limit: wait.Timeout(time.Minute)}, func(ctx context.Context) (kube.Progress, bool, error) {
		r, err := c.Certificates.CertificateSigningRequests().Get(ctx, out.Approved[0], metav1.GetOptions{})
		return kube.Progress{}, err == nil && len(r.Status.Certificate) > 0, err
	})
	if err != nil {
		t.Error(err)
	}
	if may := rights(t, cluster); !may {
		t.Error("the recovery account may not do everything")
	}
	if err := cluster.RenewNodeClient(time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, _, err := csr.Self(t.Context(), c, "not-the-name"); err != nil || c.Detour().String() != "" {
		t.Errorf("with a renewed file: %v %s", err, c.Detour())
	}
	if strings.Contains(log.String(), "eyJ") {
		t.Error("the log holds a token")
	}
}

// rights asks what the account may do that the landing of a node stands on.
func rights(t *testing.T, cluster *bench.Cluster) bool {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:openshift-kube-apiserver:localhost-recovery-client",
			Groups:             []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "*", Group: "*", Resource: "*"},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Status.Allowed
}
