// Package site holds the SiteConfig: the one document that says what a node becomes at its site, with its defaults,
// its schema, its validation and its importers.
package site

import (
	"maps"
	"slices"
	"time"
)

const (
	// APIVersion is the version of the document that this release reads and writes.
	APIVersion = "touchdown.dev/v1alpha1"
	// Kind is the kind of the document.
	Kind = "SiteConfig"
)

// Origins of a value, as kept in Config.Sources; a value that was read from a file has the origin "file NAME".
const (
	Default = "default"
	Typed   = "typed"
)

// typedTwice is the origin of a value that nobody saw while it was typed, and that was the same when it was typed again.
const typedTwice = "typed twice"

// Config is the SiteConfig. It is not safe for use by more than one goroutine at a time.
type Config struct {
	APIVersion string   `yaml:"apiVersion" json:"apiVersion"`
	Kind       string   `yaml:"kind" json:"kind"`
	Metadata   Metadata `yaml:"metadata,omitempty" json:"metadata,omitzero"`
	Spec       Spec     `yaml:"spec" json:"spec"`

	// Sources tells where the value of each path came from: Default, Typed or "file NAME". A path without a value has no entry.
	Sources map[string]string `yaml:"-" json:"-"`

	places map[string]position
}

// Metadata names the document.
type Metadata struct {
	// Name is a label of the site for people and reports; nothing on the node is called after it.
	Name string `yaml:"name,omitempty" json:"name,omitempty"`
}

// Spec is what the node becomes.
type Spec struct {
	// ClusterName is the first label of the cluster's new domain.
	ClusterName string `yaml:"clusterName,omitempty" json:"clusterName,omitempty"`
	// BaseDomain is the domain below which the cluster lives.
	BaseDomain string `yaml:"baseDomain,omitempty" json:"baseDomain,omitempty"`
	// Hostname is the node's new name; empty keeps the one of the factory.
	Hostname string `yaml:"hostname,omitempty" json:"hostname,omitempty"`
	// Network is how the node is reached; empty leaves the network unchanged.
	Network Network `yaml:"network,omitempty" json:"network,omitzero"`
	// NetworkConfig is a desired state of nmstate in its own words, instead of Network. It can hold a password.
	NetworkConfig Secret `yaml:"networkConfig,omitempty" json:"networkConfig,omitempty"`
	// Hardware is what the machine has to be, as the hardware check judges it.
	Hardware machine `yaml:"hardware,omitempty" json:"hardware,omitzero"`
	// Wiring is where the cables go. It sets nothing: the hardware check compares it with what the switches announce.
	Wiring []cable `yaml:"wiring,omitempty" json:"wiring,omitempty"`
	// AdditionalNTPSources are the site's time servers, names or addresses.
	AdditionalNTPSources []string `yaml:"additionalNTPSources,omitempty" json:"additionalNTPSources,omitempty"`
	// Time sets the clock of a site without a time server.
	Time Time `yaml:"time,omitempty" json:"time,omitzero"`
	// PullSecret has the registry credentials, as dockerconfigjson; empty keeps those of the factory.
	PullSecret Secret `yaml:"pullSecret,omitempty" json:"pullSecret,omitempty"`
	// SSHKeys are the public keys with which the user core may log in, each one line of an authorized_keys file.
	SSHKeys []string `yaml:"sshKeys,omitempty" json:"sshKeys,omitempty"`
	// ImageDigestMirrors and ImageTagMirrors say where images named by digest and by tag are pulled from.
	ImageDigestMirrors []Mirror `yaml:"imageDigestMirrors,omitempty" json:"imageDigestMirrors,omitempty"`
	ImageTagMirrors    []Mirror `yaml:"imageTagMirrors,omitempty" json:"imageTagMirrors,omitempty"`
	// RemoveFactoryMirrors removes the factory's mirrors once the site's are in place.
	RemoveFactoryMirrors bool `yaml:"removeFactoryMirrors,omitempty" json:"removeFactoryMirrors,omitempty"`
	// RegistryCerts are the authorities of the site's registries.
	RegistryCerts []RegistryCert `yaml:"registryCerts,omitempty" json:"registryCerts,omitempty"`
	// Proxy is how the node gets out of the site.
	Proxy Proxy `yaml:"proxy,omitempty" json:"proxy,omitzero"`
	// AdditionalTrustBundle are authorities of the site that node and cluster trust, PEM.
	AdditionalTrustBundle string `yaml:"additionalTrustBundle,omitempty" json:"additionalTrustBundle,omitempty"`
	// APICert is served at api.DOMAIN; empty has one made by the cluster's own signer.
	APICert KeyPair `yaml:"apiCert,omitempty" json:"apiCert,omitzero"`
	// IngressCert is served at *.apps.DOMAIN; empty has one made by the cluster's own signer.
	IngressCert IngressCert `yaml:"ingressCert,omitempty" json:"ingressCert,omitzero"`
	// Credentials are how the people of the site get into their cluster.
	Credentials credentials `yaml:"credentials" json:"credentials"`
	// Console is how a console locks that nobody uses.
	Console console `yaml:"console" json:"console"`
	// Monitor is where reports are delivered; without a URL they are not.
	Monitor monitor `yaml:"monitor,omitempty" json:"monitor,omitzero"`
	// NodeLabels are labels that the node gets once the cluster is well, by name.
	NodeLabels map[string]string `yaml:"nodeLabels,omitempty" json:"nodeLabels,omitempty"`
	// Manifests are Kubernetes objects that the cluster gets once it is well, as text; see Objects. They may hold secrets.
	Manifests Secret `yaml:"manifests,omitempty" json:"manifests,omitempty"`
	// Policy is what may happen without asking.
	Policy Policy `yaml:"policy" json:"policy"`
}

// KeyPair is a certificate with its key, both PEM.
type KeyPair struct {
	// Cert is the server's certificate, followed by its intermediates.
	Cert string `yaml:"cert,omitempty" json:"cert,omitempty"`
	// Key is the unencrypted RSA or EC key of the first certificate.
	Key Secret `yaml:"key,omitempty" json:"key,omitempty"`
}

// IngressCert is a certificate with its key, and the CA that clients inside the cluster have to trust.
type IngressCert struct {
	KeyPair `yaml:",inline"`
	// CA is the root certificate, needed when it is not public.
	CA string `yaml:"ca,omitempty" json:"ca,omitempty"`
}

// Policy is what may happen without asking, and the answers to questions that nobody is there to answer.
type Policy struct {
	// AllowReboot lets the engine reboot the node when a step needs it.
	AllowReboot bool `yaml:"allowReboot" json:"allowReboot"`
	// AllowHostnameChange lets the node be given another name.
	AllowHostnameChange bool `yaml:"allowHostnameChange" json:"allowHostnameChange"`
	// KeepNetworkWhenProbesPass keeps new network settings without asking when every probe has passed.
	KeepNetworkWhenProbesPass bool `yaml:"keepNetworkWhenProbesPass" json:"keepNetworkWhenProbesPass"`
	// KeepNetworkUnanswered keeps new network settings when nobody answers in time; else the old ones come back.
	KeepNetworkUnanswered bool `yaml:"keepNetworkUnanswered" json:"keepNetworkUnanswered"`
	// RollbackOnFailure puts everything back when a step fails and nobody is there to decide.
	RollbackOnFailure bool `yaml:"rollbackOnFailure" json:"rollbackOnFailure"`
	// KeepGoingOnWarnings starts a headless run although the review holds warnings.
	KeepGoingOnWarnings bool `yaml:"keepGoingOnWarnings" json:"keepGoingOnWarnings"`
	// SeedImages lets Touchdown keep what the node runs in its own store.
	SeedImages bool `yaml:"seedImages" json:"seedImages"`
	// StabilityWindow is how long the cluster has to stay healthy without a break before it counts as landed.
	StabilityWindow time.Duration `yaml:"stabilityWindow" json:"stabilityWindow"`
	// Watchdog is how long a landing may go without progress before it counts as stuck.
	Watchdog time.Duration `yaml:"watchdog" json:"watchdog"`
	// Answers maps the id of a question to its answer.
	Answers map[string]string `yaml:"answers,omitempty" json:"answers,omitempty"`
}

// New returns a Config that holds nothing but the defaults.
func New() *Config {
	c := &Config{
		APIVersion: APIVersion,
		Kind:       Kind,
		Sources:    map[string]string{},
		places:     map[string]position{},
	}
	for i := range schema {
		if e := &schema[i]; e.Default != "" {
			e.reset(c)
			c.Sources[e.Path] = Default
		}
	}
	return c
}

// Domain returns the cluster's new domain, clusterName.baseDomain, or "" while one of the two is missing.
func (c *Config) Domain() string {
	if c.Spec.ClusterName == "" || c.Spec.BaseDomain == "" {
		return ""
	}
	return c.Spec.ClusterName + "." + c.Spec.BaseDomain
}

// Clone returns a copy that shares nothing with c.
func (c *Config) Clone() *Config {
	d := *c
	d.Sources = maps.Clone(c.Sources)
	d.places = maps.Clone(c.places)
	d.Spec = c.Spec.clone()
	d.Spec.Policy.Answers = maps.Clone(c.Spec.Policy.Answers)
	return &d
}

// clone returns a copy that shares nothing with s.
func (s Spec) clone() Spec {
	for _, list := range []*[]string{&s.Network.Bond.Ports, &s.Network.DNSServers, &s.Network.DNSSearch, &s.AdditionalNTPSources, &s.SSHKeys} {
		*list = slices.Clone(*list)
	}
	for _, mirrors := range []*[]Mirror{&s.ImageDigestMirrors, &s.ImageTagMirrors} {
		*mirrors = slices.Clone(*mirrors)
		for i := range *mirrors {
			(*mirrors)[i].Mirrors = slices.Clone((*mirrors)[i].Mirrors)
		}
	}
	s.RegistryCerts = slices.Clone(s.RegistryCerts)
	s.Wiring = slices.Clone(s.Wiring)
	s.NodeLabels = maps.Clone(s.NodeLabels)
	return s
}

// WithoutSecrets returns a copy that holds no secret, for a file or a screen that others may read.
func (c *Config) WithoutSecrets() *Config {
	d := c.Clone()
	for i := range schema {
		if e := &schema[i]; e.at != nil && e.isSecret(e.format(e.at(d))) {
			e.assign(e.at(d), "")
			delete(d.Sources, e.Path)
		}
	}
	return d
}

// SecretTexts returns what must not be shown: the secrets that are set, and those that a desired state holds among other things.
func (c *Config) SecretTexts() []string {
	var texts []string
	for path, value := range c.Secrets() {
		if path == pathManifests { // most of its lines stand in other documents too
			continue
		}
		texts = append(texts, value)
	}
	return slices.Concat(texts, networkSecrets(string(c.Spec.NetworkConfig)), manifestSecrets(string(c.Spec.Manifests)))
}

// Secrets returns the secrets that are set, by path. SetFrom puts them back.
func (c *Config) Secrets() map[string]string {
	secrets := map[string]string{}
	for i := range schema {
		e := &schema[i]
		if e.at == nil || !e.Secret {
			continue
		}
		if value := e.format(e.at(c)); value != "" && e.isSecret(value) {
			secrets[e.Path] = value
		}
	}
	return secrets
}
