package site

import "time"

// Limits of what is read into memory and, later, into the cluster.
const (
	// maxDocument is what a config map can hold (k8s.io/api/core/v1 MaxSecretSize, used for config maps too).
	maxDocument = 1 << 20
	// maxPullSecret is what a Secret can hold (k8s.io/api/core/v1 MaxSecretSize).
	maxPullSecret = 1 << 20
	// maxPEM leaves room in a Secret for a chain and its key; a chain of five 4096-bit certificates has about 12 KiB.
	maxPEM = 256 << 10
	// maxName is the longest name that Kubernetes gives an object (RFC 1123 subdomain).
	maxName = 253
	// maxAnswer is what a line editor on a console of 80 columns can show in a few lines. Chosen.
	maxAnswer = 256
	// maxFileName is NAME_MAX of Linux (limits.h) for each part; the same number is taken for the whole.
	maxFileName = 255
)

// Types of a value, as the schema prints them.
const (
	typeText     = "text"
	typeBool     = "true or false"
	typeDuration = "duration"
	typePEM      = "PEM"
	typeJSON     = "dockerconfigjson"
	typeFile     = "file name"
)

// Item describes one path of the document. Schema returns all of them.
type Item struct {
	Path     string `json:"path"` // for example spec.baseDomain; the last part <question> stands for the id of any question
	Type     string `json:"type"`
	Unit     string `json:"unit"`
	Default  string `json:"default"`
	Meaning  string `json:"meaning"`
	Example  string `json:"example"`
	Secret   bool   `json:"secret"`
	Required bool   `json:"required"`
}

// entry is an Item with its place in a Config. Exactly one of text, flag, span, answer, into and fixed is set.
type entry struct {
	Item
	limit  int // bytes
	check  func(string) error
	text   func(*Config) *string
	flag   func(*Config) *bool
	span   func(*Config) *time.Duration
	answer bool
	into   string // a file's content goes to this path
	fixed  string // the only value there is
}

// schema is the one description of the document: Parse, Get, Set, Marshal, Explain, Example and Reference read it.
var schema = []entry{
	{
		Item:  Item{Path: "apiVersion", Type: typeText, Meaning: "version of this document's format", Example: APIVersion, Required: true},
		fixed: APIVersion,
	},
	{
		Item:  Item{Path: "kind", Type: typeText, Meaning: "kind of this document", Example: Kind, Required: true},
		fixed: Kind,
	},
	{
		Item:  Item{Path: "metadata.name", Type: typeText, Meaning: "label of the site, for people and reports only", Example: "store-0042"},
		limit: maxName, check: SiteName,
		text: func(c *Config) *string { return &c.Metadata.Name },
	},
	{
		Item:  Item{Path: "spec.clusterName", Type: typeText, Meaning: "first label of the cluster's new domain: D = clusterName.baseDomain", Example: "store0042", Required: true},
		limit: maxName, check: ClusterName,
		text: func(c *Config) *string { return &c.Spec.ClusterName },
	},
	{
		Item:  Item{Path: "spec.baseDomain", Type: typeText, Meaning: "domain below which the cluster lives; the site's DNS answers for api.D and *.apps.D", Example: "example.com", Required: true},
		limit: maxName, check: BaseDomain,
		text: func(c *Config) *string { return &c.Spec.BaseDomain },
	},
	{
		Item:  Item{Path: "spec.pullSecret", Type: typeJSON, Meaning: "log-in to the image registries; without one the factory's stays", Example: `'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'`, Secret: true},
		limit: maxPullSecret, check: PullSecret,
		text: func(c *Config) *string { return (*string)(&c.Spec.PullSecret) },
	},
	{
		Item: Item{Path: "spec.pullSecretFile", Type: typeFile, Meaning: "file beside this document that holds the pull secret", Example: "pull-secret.json"},
		into: "spec.pullSecret",
	},
	{
		Item:  Item{Path: "spec.apiCert.cert", Type: typePEM, Meaning: "certificate for api.D, then its intermediates; without one the cluster signs its own", Example: "|"},
		limit: maxPEM, check: Certificate,
		text: func(c *Config) *string { return &c.Spec.APICert.Cert },
	},
	{
		Item: Item{Path: "spec.apiCert.certFile", Type: typeFile, Meaning: "file beside this document that holds spec.apiCert.cert", Example: "api.crt"},
		into: "spec.apiCert.cert",
	},
	{
		Item:  Item{Path: "spec.apiCert.key", Type: typePEM, Meaning: "key of that certificate, RSA or EC, not encrypted", Example: "|", Secret: true},
		limit: maxPEM, check: PrivateKey,
		text: func(c *Config) *string { return (*string)(&c.Spec.APICert.Key) },
	},
	{
		Item: Item{Path: "spec.apiCert.keyFile", Type: typeFile, Meaning: "file beside this document that holds spec.apiCert.key", Example: "api.key"},
		into: "spec.apiCert.key",
	},
	{
		Item:  Item{Path: "spec.ingressCert.cert", Type: typePEM, Meaning: "certificate for *.apps.D, then its intermediates; without one the cluster signs its own", Example: "|"},
		limit: maxPEM, check: Certificate,
		text: func(c *Config) *string { return &c.Spec.IngressCert.Cert },
	},
	{
		Item: Item{Path: "spec.ingressCert.certFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.cert", Example: "apps.crt"},
		into: "spec.ingressCert.cert",
	},
	{
		Item:  Item{Path: "spec.ingressCert.key", Type: typePEM, Meaning: "key of that certificate, RSA or EC, not encrypted", Example: "|", Secret: true},
		limit: maxPEM, check: PrivateKey,
		text: func(c *Config) *string { return (*string)(&c.Spec.IngressCert.Key) },
	},
	{
		Item: Item{Path: "spec.ingressCert.keyFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.key", Example: "apps.key"},
		into: "spec.ingressCert.key",
	},
	{
		Item:  Item{Path: "spec.ingressCert.ca", Type: typePEM, Meaning: "root certificate of that certificate, when it is no public one", Example: "|"},
		limit: maxPEM, check: CABundle,
		text: func(c *Config) *string { return &c.Spec.IngressCert.CA },
	},
	{
		Item: Item{Path: "spec.ingressCert.caFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.ca", Example: "root.crt"},
		into: "spec.ingressCert.ca",
	},
	{
		Item: Item{Path: "spec.policy.allowReboot", Type: typeBool, Default: "true", Meaning: "the node may be rebooted when a step needs it", Example: "true"},
		flag: func(c *Config) *bool { return &c.Spec.Policy.AllowReboot },
	},
	{
		Item: Item{Path: "spec.policy.rollbackOnFailure", Type: typeBool, Default: "true", Meaning: "put everything back when a step fails and nobody is there to decide", Example: "true"},
		flag: func(c *Config) *bool { return &c.Spec.Policy.RollbackOnFailure },
	},
	{
		Item: Item{Path: "spec.policy.keepGoingOnWarnings", Type: typeBool, Default: "false", Meaning: "start a headless run although checks or answers only warn; at a console the person judges", Example: "false"},
		flag: func(c *Config) *bool { return &c.Spec.Policy.KeepGoingOnWarnings },
	},
	{
		Item:  Item{Path: "spec.policy.stabilityWindow", Type: typeDuration, Unit: "h, m or s", Default: "2m", Meaning: "how long the cluster has to stay healthy without a break, 1s to 30m", Example: "2m"},
		check: StabilityWindow,
		span:  func(c *Config) *time.Duration { return &c.Spec.Policy.StabilityWindow },
	},
	{
		Item:  Item{Path: answers + "<question>", Type: typeText, Meaning: "answer to a question, by its id, when nobody answers it in time", Example: "keep"},
		limit: maxAnswer, answer: true,
	},
}
