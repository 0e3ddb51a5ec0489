package site

import (
	"encoding/base64"
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// importKind is a kind of document that can be imported.
type importKind struct {
	from     string       // its name for --from
	named    message.Text // what a sentence calls it
	versions []string     // the values of apiVersion that its reader knows; none: it has no apiVersion
	required bool         // whether apiVersion may not be left out
	read     func(*importer, spot)
}

// The documents that can be imported, by their names for --from.
const (
	seedReconfiguration = "seed-reconfiguration"
	clusterRelocation   = "cluster-relocation"
	installConfig       = "install-config"
	agentConfig         = "agent-config"
	ztpSiteConfig       = "site-config"
	clusterInstance     = "cluster-instance"
	imageBasedConfig    = "image-based-config"
	nmStateConfig       = "nmstate-config"
	nmstateDocument     = "nmstate"
)

// importKinds has one row a document.
//
// An install-config needs its apiVersion, without which openshift-install refuses it: the values of a Helm chart or an Ansible role may have
// the same keys.
var importKinds = []importKind{
	{seedReconfiguration, message.T("a SeedReconfiguration"), nil, false, fromSeedReconfiguration},
	{clusterRelocation, message.T("a ClusterRelocation"), []string{"rhsyseng.github.io/v1beta1"}, true, fromClusterRelocation},
	{installConfig, message.T("an install-config"), []string{"v1"}, true, fromInstallConfig},
	{agentConfig, message.T("an agent-config"), []string{"v1alpha1", "v1beta1"}, false, fromAgentConfig},
	{ztpSiteConfig, message.T("a SiteConfig (ran.openshift.io)"), []string{"ran.openshift.io/v1"}, true, fromZTPSiteConfig},
	{clusterInstance, message.T("a ClusterInstance"), []string{"siteconfig.open-cluster-management.io/v1alpha1"}, true, fromClusterInstance},
	{imageBasedConfig, message.T("an image-based-config"), []string{"v1beta1"}, false, fromImageBasedConfig},
	{nmStateConfig, message.T("an NMStateConfig"), []string{"agent-install.openshift.io/v1beta1"}, true, fromNMStateConfig},
	{nmstateDocument, message.T("an nmstate document"), nil, false, fromNMState},
}

// Imports are the names that --from takes.
func Imports() []string {
	names := make([]string, len(importKinds))
	for i, kind := range importKinds {
		names[i] = kind.from
	}
	return names
}

func kindNamed(from string) int { return slices.Index(Imports(), from) }

// shape is what a foreign document is, by its kind or by the keys that only one program writes.
type shape struct {
	what message.Text // "a ClusterRelocation (rhsyseng.github.io/v1beta1)"
	from string       // the importer that reads it; "" for none
	fix  message.Text // what to do with it where no importer does
}

// unexpected says what a document is that is not the one that --from names, or is none that can be imported.
func unexpected(root *yaml.Node, from string) *Error {
	is := shapeOf(root)
	fix := is.fix
	switch {
	case is.from != "":
		fix = message.F("use --from %s", is.from)
	case fix == message.Text{}:
		fix = message.F("only these are imported: %s", strings.Join(Imports(), ", "))
	}
	if at := kindNamed(from); at >= 0 {
		return fault(fix, message.F("is %s, not %s", is.what, importKinds[at].named))
	}
	return fault(fix, message.F("is %s, which cannot be imported", is.what))
}

// kindsOf tells the importer of a document by its kind, where that is enough.
var kindsOf = map[string]string{
	"ClusterRelocation": clusterRelocation, "ClusterInstance": clusterInstance, "NMStateConfig": nmStateConfig,
	"AgentConfig": agentConfig, "InstallConfig": installConfig,
	"ImageBasedConfig": imageBasedConfig,
}

// ofFactory is for the config of the ISO that installs a node at the factory (lifecycle-agent api/ibiconfig/ibiconfig.go): its network,
// proxy, authorities and keys are not the site's.
var ofFactory = message.T("import the image-based-config of the site; this one describes the installation at the factory")

func shapeOf(root *yaml.Node) shape {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return child(root, key) != nil })
	}
	kind, version := word(root, "kind"), word(root, "apiVersion")
	from := ""
	switch {
	case kind == Kind && strings.HasPrefix(version, "touchdown.dev/"):
		return shape{what: message.T("a site config of Touchdown already"), fix: message.T("use it without importing it")}
	case kind == Kind && strings.HasPrefix(version, "ran.openshift.io/"):
		return shape{what: kindText(kind, version), from: ztpSiteConfig}
	case kind == "ImageBasedInstallationConfig":
		return shape{what: kindText(kind, version), fix: ofFactory}
	case has("kind"):
		return shape{what: kindText(kind, version), from: kindsOf[kind]}
	case has("api_version", "cluster_name", "base_domain"):
		from = seedReconfiguration
	case has("seedImage", "seedVersion"): // of the lifecycle agent's ib-cli, before it was part of the installer
		return shape{what: message.T("an image-based-installation-config"), fix: ofFactory}
	case has("rendezvousIP", "hosts"): // most agent-configs have no kind
		from = agentConfig
	case has("baseDomain", "controlPlane", "imageDigestSources", "imageContentSources"):
		from = installConfig
	case has("capture", "desiredState", "desired"):
		return shape{what: message.T("an nmstate policy"), fix: message.T("resolve it with nmstatectl policy, and import what that prints")}
	case has("interfaces", "dns-resolver", "routes", "route-rules", "ovs-db", "ovn"), child(child(root, "hostname"), "config") != nil:
		from = nmstateDocument
	default:
		return shape{what: message.T("a document of no known kind")}
	}
	return shape{what: importKinds[kindNamed(from)].named, from: from}
}

// kindText is "an ImageBasedConfig (v1beta1)".
func kindText(kind, version string) message.Text {
	if kind == "" {
		return message.T("a document of another kind")
	}
	if version != "" {
		kind += " (" + version + ")"
	}
	if strings.ContainsAny(kind[:1], "AEIOU") || strings.HasPrefix(kind, "NM") {
		return message.F("an %s", kind)
	}
	return message.F("a %s", kind)
}

// word is a value that may be repeated in a message; "" for one that is not the name of a kind or a version.
func word(root *yaml.Node, key string) string {
	n := child(root, key)
	if n == nil || n.Kind != yaml.ScalarNode || len(n.Value) > 64 {
		return ""
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("./-", r)
	}
	if strings.ContainsFunc(n.Value, odd) {
		return ""
	}
	return n.Value
}

// header refuses a version of the document that its importer does not know: a later one may mean something else by the same keys.
func (kind importKind) header(im *importer, main spot) *Error {
	version := main.get("apiVersion")
	known := slices.Contains(kind.versions, version.text()) || version.node == nil && !kind.required
	if len(kind.versions) > 0 && !known {
		where := version
		if version.node == nil {
			where.node = main.node
		}
		not := message.F("is not %s", kind.versions[0])
		if len(kind.versions) > 1 {
			not = message.F("is not %s or %s", kind.versions[0], strings.Join(kind.versions[1:], ", "))
		}
		return im.place(where).at("apiVersion", fault(message.T("check that it is the right file"), not))
	}
	im.use(version)
	im.use(main.get("kind"))
	return nil
}

// fromBase64 reads a value of a Secret, which may be broken into lines.
func fromBase64(n *yaml.Node) (string, *Error) {
	if f := plainNode(n, yaml.ScalarNode); f != nil {
		return "", f
	}
	value, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
	if err != nil {
		return "", fault(message.T("encode it with base64, or put it under stringData"), message.T("is not base64"))
	}
	return string(value), nil
}
