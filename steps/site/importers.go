package site

import (
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// FromSeedReconfiguration takes over what a manifest.json of the lifecycle agent says (api/seedreconfig). The notes
// tell what was taken and what was left out.
func FromSeedReconfiguration(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name, SeedReconfiguration)
	if err != nil {
		return nil, nil, err
	}
	if v := child(im.root, "api_version"); v == nil || v.Value != "1" {
		return nil, nil, im.refuse("api_version", message.T("is not 1, the only version that is known"))
	}
	im.take("base_domain", "spec.baseDomain")
	im.take("cluster_name", "spec.clusterName")
	im.hostname("hostname")
	im.take("raw_nm_state_config", "spec.networkConfig")
	im.chrony("chrony_config")
	im.take("pull_secret", "spec.pullSecret")
	im.take("ssh_key", "spec.sshKeys")
	im.proxy()
	im.take("additionalTrustBundle.userCaBundle", "spec.additionalTrustBundle")
	im.leave(child(im.root, "additionalTrustBundle"), "additionalTrustBundle", "proxyConfigmapName", "proxyConfigmapBundle")
	im.leave(im.root, "", "api_version", "proxy", "additionalTrustBundle")
	return im.done()
}

// FromClusterRelocation takes over what a ClusterRelocation of the cluster-relocation-operator says
// (rhsyseng.github.io/v1beta1). Its secrets are their own objects, so they are only noted.
func FromClusterRelocation(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name, ClusterRelocation)
	if err != nil {
		return nil, nil, err
	}
	if v := child(im.root, "apiVersion"); v == nil || v.Value != "rhsyseng.github.io/v1beta1" {
		return nil, nil, im.refuse("apiVersion", message.T("is not rhsyseng.github.io/v1beta1"))
	}
	spec := child(im.root, "spec")
	domain := child(spec, "domain")
	if domain == nil || !strings.Contains(domain.Value, ".") {
		return nil, nil, im.refuse("spec.domain", message.T("is missing, or has no dot where cluster name and base domain part"))
	}
	cluster, base, _ := strings.Cut(domain.Value, ".")
	im.store(domain, "spec.domain", "spec.clusterName", cluster)
	im.store(domain, "spec.domain", "spec.baseDomain", base)
	for _, ref := range []string{"apiCertRef", "ingressCertRef", "pullSecretRef"} {
		if child(spec, ref) != nil {
			im.note("spec.%s names a Secret that is not part of the document: give its content yourself", ref)
			im.taken["spec."+ref] = true
		}
	}
	im.list("spec.sshKeys", "spec.sshKeys")
	im.firstOf("spec.imageDigestMirrors", "spec.imageDigestSources") // the latter in its first releases
	im.registryCert("spec.registryCert")
	im.leave(spec, "spec")
	im.leave(im.root, "", "apiVersion", "kind", "metadata", "spec", "status")
	return im.done()
}

// FromInstallConfig takes over what an install-config.yaml says about names, registries, proxy and time.
func FromInstallConfig(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name, InstallConfig)
	if err != nil {
		return nil, nil, err
	}
	if err := im.versions("v1"); err != nil {
		return nil, nil, err
	}
	im.take("metadata.name", "spec.clusterName")
	im.take("baseDomain", "spec.baseDomain")
	im.take("pullSecret", "spec.pullSecret")
	im.take("sshKey", "spec.sshKeys")
	im.firstOf("imageDigestSources", "imageContentSources") // the latter before OpenShift 4.14
	im.proxy()
	im.take("additionalTrustBundle", "spec.additionalTrustBundle")
	im.list("platform.baremetal.additionalNTPServers", "spec.additionalNTPSources")
	if im.taken["platform.baremetal.additionalNTPServers"] {
		im.leave(child(child(im.root, "platform"), "baremetal"), "platform.baremetal")
		im.taken["platform"] = true
	}
	im.leave(im.root, "", "apiVersion", "kind", "metadata", "proxy")
	return im.done()
}

// FromAgentConfig takes over what an agent-config.yaml says about its one host.
func FromAgentConfig(data []byte, name string) (*Config, []string, error) {
	im, err := newImport(data, name, AgentConfig)
	if err != nil {
		return nil, nil, err
	}
	if err := im.versions("v1alpha1", "v1beta1"); err != nil {
		return nil, nil, err
	}
	if old := child(im.root, "spec"); old != nil { // it had rendezvousIP and nodes in there
		im.fail(old, "spec", fault(message.T("write hosts and the other keys at the top level"), message.T("is how the first agent-configs were written, which cannot be imported")))
		return im.done()
	}
	im.take("metadata.name", "spec.clusterName")
	im.list("additionalNTPSources", "spec.additionalNTPSources")
	im.hosts()
	im.leave(im.root, "", "apiVersion", "kind", "metadata", "hosts")
	return im.done()
}

// hosts takes the host of a single-node cluster. Of several nobody knows which this node is.
func (im *importer) hosts() {
	hosts := items(im.root, "hosts")
	if len(hosts) > 1 {
		im.note("hosts is left out: it describes %d hosts, and this is a single node", len(hosts))
	}
	if len(hosts) != 1 {
		return
	}
	host, here := hosts[0], "hosts[0]"
	if n := child(host, "hostname"); n != nil && n.Value != "" {
		im.text(n, here+".hostname", "spec.hostname")
		im.warnOfHostname()
	}
	if n := child(host, "networkConfig"); n != nil && n.Kind == yaml.MappingNode && len(n.Content) > 0 {
		if where, f := plainTree(n); f != nil {
			im.fail(where, here+".networkConfig", f)
			return
		}
		im.node(n, here+".networkConfig", "spec.networkConfig", n)
		if child(host, "interfaces") != nil {
			im.note("%s.interfaces is left out: see that spec.networkConfig calls the ports as the node does", here)
			im.taken[here+".interfaces"] = true
		}
	}
	im.leave(host, here)
}

// hostname takes a name for the node. Whether the node may be given another one is for a person to say.
func (im *importer) hostname(from string) {
	im.take(from, "spec.hostname")
	im.warnOfHostname()
}

func (im *importer) warnOfHostname() {
	if im.config.Spec.Hostname != "" {
		im.note("spec.hostname needs spec.policy.allowHostnameChange: true; remove it to keep the factory's name")
	}
}

func (im *importer) proxy() {
	for _, key := range []string{"httpProxy", "httpsProxy", "noProxy"} {
		im.take("proxy."+key, "spec.proxy."+key)
	}
	im.leave(child(im.root, "proxy"), "proxy")
}

// firstOf takes the mirrors under the first of the names under which they may stand.
func (im *importer) firstOf(names ...string) {
	for _, from := range names {
		if im.at(from) != nil {
			im.mirrors(from, "spec.imageDigestMirrors")
			return
		}
	}
}

// registryCert takes the one registry of a ClusterRelocation, whose port is a text there.
func (im *importer) registryCert(from string) {
	n := im.at(from)
	if n == nil {
		return
	}
	if where, f := plainTree(n); f != nil {
		im.fail(where, from, f)
		return
	}
	item := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, key := range []string{"registryHostname", "registryPort", "certificate"} {
		value := child(n, key)
		if value == nil || value.Kind == yaml.ScalarNode && value.Value == "" {
			continue
		}
		if key == "registryPort" && parseableNumber(value.Value) == nil {
			value = scalarNode(value.Value, "!!int")
		}
		item.Content = append(item.Content, scalarNode(key, "!!str"), value)
		im.taken[from+"."+key] = true
	}
	im.leave(n, from)
	im.node(n, from, "spec.registryCerts", &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{item}})
}

// chrony takes the time servers of a chrony.conf; its other lines stay the factory's.
func (im *importer) chrony(from string) {
	n := im.at(from)
	if n == nil || n.Kind != yaml.ScalarNode {
		return
	}
	var servers []string
	for line := range strings.Lines(n.Value) {
		if f := strings.Fields(line); len(f) > 1 && slices.Contains([]string{"server", "pool", "peer"}, f[0]) {
			servers = append(servers, f[1])
		}
	}
	if len(servers) > 0 {
		im.store(n, from, "spec.additionalNTPSources", strings.Join(servers, "\n"))
		im.note("%s: only its time servers are taken over", from)
	}
}
