package domain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Where the static pods' operators keep what their revisions are made of.
const (
	apiNamespace        = "openshift-kube-apiserver"
	controllerNamespace = "openshift-kube-controller-manager"
)

// evidence is what tells whether the API server runs with what the cluster's configuration asks for. A newer revision does not: it may
// come from anything else. The operator writes what it took of the configuration into its own spec.observedConfig, merges that into
// the ConfigMap config, and copies this for each revision as config-REVISION (openshift/cluster-kube-apiserver-operator c813e820b,
// pkg/operator/targetconfigcontroller, pkg/operator/starter.go RevisionConfigMaps).
type evidence struct {
	revisions kube.Revisions
	refused   string  // what the operator says of a configuration that it does not take; "" when it takes it
	wanted    []named // by APIServer/cluster
	observed  []named // by the operator
	running   []named // in the revision that runs
	newest    bool    // that revision has the newest configuration and the newest OAuth metadata
	coming    bool    // another revision will be made, since the newest one lacks some of it
	metadata  string  // for the next revision
}

// named is one certificate of the cluster's owner: the names, and the number of the file.
type named struct {
	Names []string `json:"names"`
	File  string   `json:"certFile"`
}

func (n named) equal(o named) bool { return n.File == o.File && slices.Equal(n.Names, o.Names) }

// userCert begins the name of each file with such a certificate; the operator's own ones stand beside them in its lists.
const userCert = "user-serving-cert-"

// readEvidence asks for all of it.
func readEvidence(ctx context.Context, c *kube.Cluster) (*evidence, error) {
	var e *evidence
	err := c.Do(ctx, "reading what the API server runs with", func(ctx context.Context) error {
		api, err := c.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		ks, err := c.Operator.KubeAPIServers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		pods, err := c.Core.Pods(apiNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		e = &evidence{revisions: kube.RevisionsOf(ks, pods.Items), refused: refusal(ks), wanted: wantedOf(api)}
		if e.observed, err = namedOf(ks.Spec.ObservedConfig.Raw); err != nil {
			return err
		}
		return e.inputs(ctx, c)
	})
	return e, err
}

// inputs compares what the running revision is made of with what the next one would be made of.
func (e *evidence) inputs(ctx context.Context, c *kube.Cluster) error {
	e.newest = true
	for _, in := range []struct{ name, key string }{{"config", "config.yaml"}, {"oauth-metadata", "oauthMetadata"}} {
		next, err := valueOf(ctx, c, apiNamespace, in.name, in.key)
		if err != nil {
			return err
		}
		runs, err := valueOf(ctx, c, apiNamespace, fmt.Sprintf("%s-%d", in.name, e.revisions.Current), in.key)
		if err != nil {
			return err
		}
		made, err := valueOf(ctx, c, apiNamespace, fmt.Sprintf("%s-%d", in.name, e.revisions.Latest), in.key)
		if err != nil {
			return err
		}
		e.newest, e.coming = e.newest && next == runs, e.coming || next != made
		if in.name == "oauth-metadata" {
			e.metadata = next
			continue
		}
		if e.running, err = namedOf([]byte(runs)); err != nil {
			return err
		}
	}
	return nil
}

// valueOf reads a ConfigMap's value; one that does not exist has none.
func valueOf(ctx context.Context, c *kube.Cluster, namespace, name, key string) (string, error) {
	cm, err := c.Core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return cm.Data[key], nil
}

// refusal is what the operator says of a configuration that it does not take. It names entries and Secrets, and quotes neither.
func refusal(ks *operatorv1.KubeAPIServer) string {
	for _, cond := range ks.Status.Conditions {
		if cond.Type == "ConfigObservationDegraded" && cond.Status == operatorv1.ConditionTrue {
			return strings.TrimSpace(cond.Message)
		}
	}
	return ""
}

// aboutNames returns those lines of a refusal that are about the named certificates: they stay until someone changes the list. Others
// may be of a moment, such as a Secret that the operator has not seen yet.
func aboutNames(refusal string) string {
	var lines []string
	for line := range strings.Lines(refusal) {
		if strings.Contains(line, "namedCertificates") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "; ")
}

// wantedOf numbers the entries as the operator does.
func wantedOf(api *configv1.APIServer) []named {
	all := []named{}
	for i, n := range api.Spec.ServingCerts.NamedCertificates {
		all = append(all, named{n.Names, fmt.Sprintf("%s%03d", userCert, i)})
	}
	return all
}

// namedOf takes the owner's entries out of a configuration of the API server.
func namedOf(config []byte) ([]named, error) {
	all := []named{}
	if len(config) == 0 {
		return all, nil
	}
	var c struct {
		ServingInfo struct {
			NamedCertificates []named `json:"namedCertificates"`
		} `json:"servingInfo"`
	}
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("decoding the configuration of the API server: %w", err)
	}
	for _, n := range c.ServingInfo.NamedCertificates {
		if _, after, ok := strings.Cut(n.File, "/"+userCert); ok {
			number, _, _ := strings.Cut(after, "/")
			all = append(all, named{n.Names, userCert + number})
		}
	}
	return all, nil
}

// unread says what the operator has not read yet; "" when it has taken all.
func (e *evidence) unread() message.Text {
	if !slices.EqualFunc(e.wanted, e.observed, named.equal) {
		return message.T("the API server's operator to read its configuration")
	}
	return message.Text{}
}

// notRolledOut says what the running revision lacks. oauth is the host of the login that has to be in it; "" for any.
func (e *evidence) notRolledOut(oauth string) message.Text {
	if why := e.unread(); why.String() != "" {
		return why
	}
	if why := e.revisions.Pending(0); why != (message.Text{}) {
		return why
	}
	if !e.newest || !slices.EqualFunc(e.wanted, e.running, named.equal) {
		return message.T("a revision of the API server with the newest configuration")
	}
	if oauth != "" && e.metadata != "" && !tells(e.metadata, oauth) {
		return message.F("the API server's operator to learn the login's host %s", oauth)
	}
	return message.Text{}
}

// tells says whether the OAuth metadata is for this host.
func tells(metadata, host string) bool { return strings.Contains(metadata, "https://"+host+"/") }

// controllers says why kube-controller-manager is not at rest. Its revisions hold the bundle serviceaccount-ca, of which the router's
// certificate is a part (openshift/cluster-kube-controller-manager-operator, pkg/operator/targetconfigcontroller and starter.go).
func controllers(ctx context.Context, c *kube.Cluster) (pending message.Text, err error) {
	err = c.Do(ctx, "reading kubecontrollermanagers/cluster", func(ctx context.Context) error {
		op, err := c.Operator.KubeControllerManagers().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil || len(op.Status.NodeStatuses) == 0 {
			return err
		}
		current := op.Status.NodeStatuses[0].CurrentRevision
		const bundle, key = "serviceaccount-ca", "ca-bundle.crt"
		next, err := valueOf(ctx, c, controllerNamespace, bundle, key)
		if err != nil {
			return err
		}
		runs, err := valueOf(ctx, c, controllerNamespace, fmt.Sprintf("%s-%d", bundle, current), key)
		if err != nil {
			return err
		}
		pending = message.Text{}
		if next != runs || current != op.Status.LatestAvailableRevision {
			pending = message.F("a revision of kube-controller-manager after %d", current)
		}
		return nil
	})
	return pending, err
}
