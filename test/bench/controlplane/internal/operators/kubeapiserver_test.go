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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stest "k8s.io/client-go/testing"

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

// A configuration never names a certificate whose copy is not there.
func TestCopiesOfCertificatesOutlastTheConfiguration(t *testing.T) {
	source := &v1.Secret{ObjectMeta: object("openshift-config", "ours"), Type: v1.SecretTypeTLS, Data: map[string][]byte{v1.TLSCertKey: []byte("x")}}
	metadata := &v1.ConfigMap{ObjectMeta: object("openshift-config-managed", "oauth-openshift")}
	for name, c := range map[string]struct {
		before, after int
		want          []string
	}{
		"one comes": {0, 1, []string{"create secrets user-serving-cert-000", "update configmaps config", "delete secrets user-serving-cert-001"}},
		"one goes":  {1, 0, []string{"update configmaps config", "delete secrets user-serving-cert-000", "delete secrets user-serving-cert-001"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := slices.Concat(serving(t, 0, c.before), []runtime.Object{source, metadata})
			for i := range c.before {
				objects = append(objects, &v1.Secret{ObjectMeta: object(kasNamespace, certName(i))})
			}
			e, kube := operated(t, &server{}, objects...)
			api, err := e.Config.APIServers().Get(t.Context(), "cluster", metav1.GetOptions{})
			if err == nil {
				for range c.after {
					api.Spec.ServingCerts.NamedCertificates = append(api.Spec.ServingCerts.NamedCertificates,
						configv1.APIServerNamedServingCert{ServingCertificate: configv1.SecretNameReference{Name: source.Name}})
				}
				_, err = e.Config.APIServers().Update(t.Context(), api, metav1.UpdateOptions{})
			}
			if err == nil {
				err = observeKubeAPIServer(t.Context(), e, false)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := changes(t, kube.Actions()); !slices.Equal(got, c.want) {
				t.Errorf("%v\nwant %v", got, c.want)
			}
		})
	}
}

// changes are those that a client made, each as its verb, the resource and the object's name. A deletion that found nothing is one too.
func changes(t *testing.T, actions []k8stest.Action) []string {
	t.Helper()
	var all []string
	for _, a := range actions {
		name := ""
		switch a := a.(type) {
		case k8stest.DeleteAction:
			name = a.GetName()
		case k8stest.CreateAction: // an update has its methods
			o, err := meta.Accessor(a.GetObject())
			if err != nil {
				t.Fatal(err)
			}
			name = o.GetName()
		default:
			continue
		}
		all = append(all, a.GetVerb()+" "+a.GetResource().Resource+" "+name)
	}
	return all
}
