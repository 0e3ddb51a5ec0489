package seed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"touchdown/test/bench/controlplane/internal/pki"
)

// Node is the name of the only node; it also stands in host names of pods.
const Node = "sno-factory"

// DNSAddress is that of the cluster's DNS service, on a node.
const DNSAddress = "172.30.0.10"

// Revision is the one that the static pods are at.
const Revision = 7

// Values fill the templates of the objects.
type Values struct {
	Name, BaseDomain, Domain  string
	Address, MachineNetwork   string
	Node, Version, Release    string
	OSImage, PodImage         string
	Real                      bool // a kubelet runs the pods
	ClusterID, InfraID        string
	Now, Installed            string
	Revision                  int
	Rendered                  map[string]string
	PullSecret, OAuthMetadata string

	Namespaces, Operators, StaticPodOperators, PlainOperators []string

	ComponentRoutes []componentRoute
	Routes          []route
	Keys            []keySecret
	Bundles         []bundle
	Pods            []pod
	Deployments     []object

	pairs pki.Cluster
}

type object struct{ Namespace, Name string }

type componentRoute struct{ Namespace, Name, Host, User string }

type route struct {
	Namespace, Name, Host, Termination string
	Generated                          bool
	Subdomain, Port                    string // instead of a host: the router appends its domain and says so in the status
}

type keySecret struct {
	Namespace, Name, Pair string
	Opaque                bool
}

type bundle struct {
	Namespace, Name string
	Signers         []string
}

type pod struct {
	Namespace, Name, App string
	Static               bool
}

// NewValues describes a cluster of this domain at this address.
func NewValues(domain, address string, pairs pki.Cluster) (*Values, error) {
	name, base, ok := strings.Cut(domain, ".")
	if !ok {
		return nil, fmt.Errorf("domain %q has no base domain", domain)
	}
	v := &Values{
		Name: name, BaseDomain: base, Domain: domain, Address: address, MachineNetwork: address + "/24", Node: Node,
		Version: "4.18.21", Release: "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("4a18", 16),
		OSImage:   "quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:" + strings.Repeat("05a1", 16),
		ClusterID: "3f5c1a52-6c1d-4a53-9a3b-0c9c8d1e7b24", InfraID: name + "-7x2lq", Revision: Revision,
		Now: time.Now().UTC().Format(time.RFC3339), Installed: time.Now().Add(-36 * time.Hour).UTC().Format(time.RFC3339),
		Rendered:   map[string]string{"master": "rendered-master-" + strings.Repeat("0f3a", 8), "worker": "rendered-worker-" + strings.Repeat("7be1", 8)},
		PullSecret: base64.StdEncoding.EncodeToString([]byte(`{"auths":{"quay.io":{"auth":"` + base64.StdEncoding.EncodeToString([]byte("factory:factory")) + `"}}}`)),
		pairs:      pairs,
	}
	v.PodImage = v.Release
	v.OAuthMetadata = OAuthMetadata("oauth-openshift.apps." + domain)
	v.Operators, v.StaticPodOperators, v.PlainOperators = operators(), staticPodOperators(), plainOperators()
	v.Routes, v.ComponentRoutes = routes(domain), componentRoutes(domain)
	v.Keys, v.Bundles, v.Pods, v.Deployments = keySecrets(), bundles(), pods(), deployments()
	v.Namespaces = v.namespaces()
	return v, nil
}

// NodePodImage is the image of a real node's pods; the bench lays it into the node's store.
const NodePodImage = "localhost/bench/pod:1"

// RealNode leaves to a kubelet what it does itself: it asks for its own certificates, makes the mirror pods of its static
// pods and runs the others.
func (v *Values) RealNode() {
	v.Real, v.PodImage = true, NodePodImage
	v.Pods = slices.DeleteFunc(v.Pods, func(p pod) bool { return p.Static })
}

// OAuthMetadata is what the authentication operator publishes of the OAuth server; kube-apiserver's revision holds a copy.
func OAuthMetadata(host string) string {
	url := "https://" + host
	data, _ := json.Marshal(map[string]string{"issuer": url, "authorization_endpoint": url + "/oauth/authorize", "token_endpoint": url + "/oauth/token"})
	return string(data)
}

func (v *Values) namespaces() []string {
	seen := map[string]bool{}
	var all []string
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, name := range []string{"openshift", "openshift-config", "openshift-config-managed", "openshift-etcd", "openshift-machine-config-operator", "openshift-ingress-operator", "openshift-marketplace"} {
		add(name)
	}
	for _, r := range v.Routes {
		add(r.Namespace)
	}
	for _, k := range v.Keys {
		add(k.Namespace)
	}
	for _, b := range v.Bundles {
		add(b.Namespace)
	}
	for _, p := range v.Pods {
		add(p.Namespace)
	}
	return all
}

func (v *Values) functions() template.FuncMap {
	b64 := base64.StdEncoding.EncodeToString
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	return template.FuncMap{
		"list":      func(s ...string) []string { return s },
		"crt":       func(name string) string { return b64(v.pairs[name].CertPEM) },
		"key":       func(name string) string { return b64(v.pairs[name].KeyPEM) },
		"issuer":    func(name string) string { return v.pairs[name].Cert.Issuer.CommonName },
		"notAfter":  func(name string) string { return stamp(v.pairs[name].Cert.NotAfter) },
		"notBefore": func(name string) string { return stamp(v.pairs[name].Cert.NotBefore) },
		"bundle":    func(names []string) string { return fmt.Sprintf("%q", v.pairs.Bundle(names...)) },
	}
}
