package operators

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	operatorfake "github.com/openshift/client-go/operator/clientset/versioned/fake"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"touchdown/test/bench/controlplane/internal/cluster"
)

// server is an API server whose next roll-out ends with an error, once.
type server struct {
	sni  []string
	next error
}

func (s *server) SNI() []string { return s.sni }

func (s *server) RollOut(ctx context.Context, sni []string, outage func(context.Context) error) error {
	err := s.next
	if s.next = nil; err == nil {
		s.sni = sni
	}
	return errors.Join(err, outage(ctx))
}

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// serving is the operand's configuration with n named certificates of the cluster's owner.
func serving(t *testing.T, revision int32, n int) []runtime.Object {
	t.Helper()
	config := kasConfiguration{ServingInfo: servingInfo{ownCertificates()}}
	for i := range n {
		config.ServingInfo.NamedCertificates = append(config.ServingInfo.NamedCertificates, observedCertificate{CertFile: kasPods + certName(i) + "/tls.crt"})
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return []runtime.Object{
		&v1.ConfigMap{ObjectMeta: object(kasNamespace, inputName("config", revision)), Data: map[string]string{"config.yaml": string(text)}},
		&v1.ConfigMap{ObjectMeta: object(kasNamespace, inputName("oauth-metadata", revision))},
	}
}

// operated is a cluster at revision 1 without delays.
func operated(t *testing.T, api *server, objects ...runtime.Object) (*Env, *fake.Clientset) {
	t.Helper()
	op := &operatorv1.KubeAPIServer{ObjectMeta: object("", "cluster")}
	op.Status.LatestAvailableRevision = 1
	op.Status.NodeStatuses = []operatorv1.NodeStatus{{NodeName: "node", CurrentRevision: 1}}
	kube := fake.NewClientset(objects...)
	config := configfake.NewClientset(&configv1.ClusterOperator{ObjectMeta: object("", kas)}, &configv1.Proxy{ObjectMeta: object("", "cluster")},
		&configv1.APIServer{ObjectMeta: object("", "cluster")})
	clients := &cluster.Clients{Kube: kube, Config: config.ConfigV1(), Operator: operatorfake.NewClientset(op).OperatorV1()}
	return &Env{
		Clients: clients, API: api, Pace: &Pace{}, Stats: NewStats(), Faults: NewFaults(), Node: "node", CertDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	}, kube
}

// The product asks the pod whether its server fell back.
func TestALaterRevisionIsAPodThatDidNotFallBack(t *testing.T) {
	api := &server{next: errors.New("no certificate")}
	pod := &v1.Pod{ObjectMeta: object(kasNamespace, kas+"-node")}
	pod.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	objects := slices.Concat([]runtime.Object{pod}, serving(t, 2, 0), serving(t, 3, 0))
	e, kube := operated(t, api, objects...)
	for _, step := range []struct {
		revision    int32
		annotations int
	}{{2, 4}, {3, 1}} {
		err := e.updateRevision(t.Context(), func(s *operatorv1.StaticPodOperatorStatus) { s.LatestAvailableRevision = step.revision })
		if err == nil {
			err = installKubeAPIServer(t.Context(), e, false)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := kube.CoreV1().Pods(kasNamespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if err != nil || len(p.Annotations) != step.annotations {
			t.Errorf("after revision %d the pod has the annotations %v, %v", step.revision, p.Annotations, err)
		}
	}
	if r, _, err := e.readRevision(t.Context()); err != nil || r != (Revision{Current: 3, Latest: 3}) {
		t.Errorf("at %+v, %v", r, err)
	}
}
