package csr_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/csr"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/test/bench"
)

// The cluster's real signers sign what was approved; the stranger's request stays unchanged.
func TestApproveForReal(t *testing.T) {
	cluster := bench.Start(t, bench.Options{})
	c, err := kube.Open(cluster.Kubeconfig, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c.Pace = kube.Pace{Limit: 3 * time.Minute, Pause: 50 * time.Millisecond, Poll: 50 * time.Millisecond}
	ctx := t.Context()
	e, node, err := csr.Self(ctx, c, "not-the-name")
	if err != nil || node == nil || e.Node != node.Name || len(e.Addresses) == 0 {
		t.Fatal(e, err)
	}
	if err := cluster.SetFault(bench.Fault{Kind: bench.Conflict, Verb: "update", Times: 2}); err != nil {
		t.Fatal(err)
	}
	out, err := csr.Approve(ctx, c, e)
	if err != nil || len(out.Approved) != 2 || len(out.Left) != 1 || out.Left[0].Name != "csr-foreign" {
		t.Fatalf("%+v %v", out, err)
	}
	t.Log(out)
	host := hosttest.New(t)
	host.File("/var/lib/kubelet/pki/kubelet.crt", "")
	for _, name := range out.Approved {
		var signed []byte
		err := c.Until(ctx, kube.Wait{What: message.T("signing"), Limit: 3 * time.Minute}, func(ctx context.Context) (kube.Progress, bool, error) {
			r, err := c.Certificates.CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return kube.Progress{}, false, err
			}
			signed = r.Status.Certificate
			return kube.Progress{}, len(signed) > 0, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(signed)
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || cert.Subject.CommonName != "system:node:"+e.Node {
			t.Fatal(err, cert)
		}
		kind := "client"
		if cert.ExtKeyUsage[0] == x509.ExtKeyUsageServerAuth {
			kind = "server"
		}
		if why := csr.Files(host.Machine, time.Now()); why.String() == "" {
			t.Error("good without files")
		}
		host.File("/var/lib/kubelet/pki/kubelet-"+kind+"-current.pem", string(signed))
	}
	if why := csr.Files(host.Machine, time.Now()); why.String() != "" {
		t.Error(why)
	}
	if why := csr.Files(host.Machine, time.Now().Add(400*24*time.Hour)); why.String() == "" {
		t.Error("good after a year")
	}
	writes := c.Writes()
	if again, err := csr.Approve(ctx, c, e); err != nil || len(again.Approved) != 0 || c.Writes() != writes {
		t.Error(again, err)
	}
	foreign, err := c.Certificates.CertificateSigningRequests().Get(ctx, "csr-foreign", metav1.GetOptions{})
	if err != nil || len(foreign.Status.Conditions) != 0 {
		t.Error(foreign.Status, err)
	}
}
