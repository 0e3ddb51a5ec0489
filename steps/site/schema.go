package site

import (
	"slices"
	"strings"
)

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
	// maxList holds some dozens of names, far more than any list of names here may have. Chosen.
	maxList = 8 << 10
	// maxKeys holds some hundred SSH keys of 4096 bits, about 750 bytes each. Chosen.
	maxKeys = 64 << 10
	// maxNMState is a hundred times a description of a bond, a VLAN and their addresses. Chosen.
	maxNMState = 64 << 10
)

// Types of a value, as the schema prints them.
const (
	typeText      = "text"
	typeBool      = "true or false"
	typeNumber    = "number"
	typeDuration  = "duration"
	typeTime      = "RFC 3339 time"
	typeList      = "list of texts"
	typeGroups    = "list of groups"
	typeLabels    = "names and values"
	typePEM       = "PEM"
	typeJSON      = "dockerconfigjson"
	typeNMState   = "nmstate YAML"
	typeManifests = "Kubernetes YAML"
	typeFile      = "file name"
	typeFiles     = "file names"
	typePIN       = "PIN"
)

// Item describes one path of the document. Schema returns all of them. In a path, [] stands for the number of any item
// of a list, and <question> for the id of any question.
type Item struct {
	Path     string   `json:"path"` // for example spec.baseDomain
	Type     string   `json:"type"`
	Unit     string   `json:"unit"`
	Default  string   `json:"default"`
	Choices  []string `json:"choices,omitempty"` // the only values there are
	Meaning  string   `json:"meaning"`
	Example  string   `json:"example"`
	Secret   bool     `json:"secret"`
	Required bool     `json:"required"`
}

// entry is an Item with its place in a Config. Exactly one of at, cell, answer, into and fixed is set.
type entry struct {
	Item
	limit  int // bytes
	check  func(string) error
	at     func(*Config) any   // pointer to the value; the types are those that format knows
	cell   bool                // part of each item of a list of groups, found by groups.cell
	lines  bool                // the items of a list hold spaces and commas, so each has its own line
	tidy   func(string) string // turns another spelling of a value into the usual one
	guard  func(string) bool   // whether the value is secret; nil: always, when Secret is set
	answer bool
	into   string // a file's content goes to this path
	fixed  string // the only value there is

	younger bool // than the first release: set it in each new entry, see Config.Counted
	spared  bool // while it is the default, a document is written without it: an earlier release refuses a key that it does not know
}

// schema is the one description of the document: Parse, Get, Set, Marshal, Explain, Example and Reference read it.
var schema = slices.Concat(
	headEntries,
	networkEntries,
	hardwareEntries,
	wiringEntries,
	timeEntries,
	registryEntries,
	proxyEntries,
	certificateEntries,
	credentialEntries,
	consoleEntries,
	monitorEntries,
	labelEntries,
	manifestEntries,
	policyEntries,
)

// headEntries say what the document is and what the cluster and its node are called.
var headEntries = []entry{
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
		limit: maxName, check: siteName,
		at: func(c *Config) any { return &c.Metadata.Name },
	},
	{
		Item:  Item{Path: "spec.clusterName", Type: typeText, Meaning: "first label of the cluster's new domain: D = clusterName.baseDomain", Example: "store0042", Required: true},
		limit: maxName, check: ClusterName,
		at: func(c *Config) any { return &c.Spec.ClusterName },
	},
	{
		Item:  Item{Path: "spec.baseDomain", Type: typeText, Meaning: "domain below which the cluster lives; the site's DNS answers for api.D and *.apps.D", Example: "example.com", Required: true},
		limit: maxName, check: BaseDomain,
		at: func(c *Config) any { return &c.Spec.BaseDomain },
	},
	{
		Item:  Item{Path: "spec.hostname", Type: typeText, Meaning: "new name of the node, which needs spec.policy.allowHostnameChange; without one the factory's stays", Example: "node-0042"},
		limit: maxName, check: hostname,
		at: func(c *Config) any { return &c.Spec.Hostname },
	},
}

// isSecret reports whether a value must not be shown. Most secrets always are; a proxy's URL is one only when it holds
// a password, so that the others can be read on the screen.
func (e *entry) isSecret(value string) bool {
	return e.Secret && (e.guard == nil || e.guard(value))
}

// ownerOf splits the path of a cell into its list and its key, for example spec.registryCerts of spec.registryCerts[].certificate.
func ownerOf(path string) (owner, key string) {
	owner, key, _ = strings.Cut(path, "[].")
	return owner, key
}
