package site

import (
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// fromSeedReconfiguration takes over what a manifest.json of the lifecycle agent says (api/seedreconfig).
func fromSeedReconfiguration(im *importer, doc spot) {
	version := doc.get("api_version")
	if version.text() != "1" {
		if version.node == nil {
			version.node = doc.node
		}
		im.fail(version, fault(message.T("check that it is the right file"), message.T("is not 1, the only version that is known")))
		return
	}
	im.use(version)
	im.take(doc.get("base_domain"), "spec.baseDomain")
	im.take(doc.get("cluster_name"), "spec.clusterName")
	im.hostname(doc.get("hostname"))
	im.networkText(doc.get("raw_nm_state_config"))
	im.chrony(doc.get("chrony_config"))
	im.take(doc.get("pull_secret"), "spec.pullSecret")
	im.take(doc.get("ssh_key"), "spec.sshKeys")
	im.proxy(doc.get("proxy"))
	im.bundle(doc.get("additionalTrustBundle.userCaBundle"), doc.get("additionalTrustBundle.proxyConfigmapBundle"))
}

// bundle takes the authorities of the nodes, and those of the proxy alone where a cluster keeps them apart: a site config has one list.
func (im *importer) bundle(parts ...spot) {
	var both []string
	for _, s := range parts {
		if s.blank() {
			continue
		}
		if f := plainNode(s.node, yaml.ScalarNode); f != nil {
			im.fail(s, f)
			continue
		}
		both = append(both, strings.TrimRight(s.node.Value, "\n"))
		im.whole(s, "spec.additionalTrustBundle", strings.Join(both, "\n"))
	}
}

// fromClusterRelocation takes over what a ClusterRelocation of the cluster-relocation-operator says (rhsyseng.github.io/v1beta1),
// with its Secrets where they are in the same file.
func fromClusterRelocation(im *importer, doc spot) {
	spec := doc.get("spec")
	domain := spec.get("domain")
	cluster, base, dotted := strings.Cut(domain.text(), ".")
	if !dotted {
		if domain.node == nil {
			domain.node = doc.node
		}
		im.fail(domain, fault(message.T("check that it is the right file"), message.T("is missing, or has no dot where cluster name and base domain part")))
		return
	}
	im.whole(domain, "spec.clusterName", cluster)
	im.whole(domain, "spec.baseDomain", base)
	im.secret(spec.get("apiCertRef"), "", "kubernetes.io/tls", [2]string{"tls.crt", "spec.apiCert.cert"}, [2]string{"tls.key", "spec.apiCert.key"})
	im.secret(spec.get("ingressCertRef"), "", "kubernetes.io/tls", [2]string{"tls.crt", "spec.ingressCert.cert"}, [2]string{"tls.key", "spec.ingressCert.key"})
	im.pullSecret(spec.get("pullSecretRef"), "")
	im.list(spec.get("sshKeys"), "spec.sshKeys")
	im.mirrors(firstOf(spec, "imageDigestMirrors", "imageDigestSources")) // the latter in its first releases
	im.registryCert(spec.get("registryCert"))
}

func (im *importer) pullSecret(ref spot, namespace string) {
	im.secret(ref, namespace, "kubernetes.io/dockerconfigjson", [2]string{".dockerconfigjson", "spec.pullSecret"})
}

// fromInstallConfig takes over what an install-config.yaml says about names, registries, proxy, time and its host's network.
func fromInstallConfig(im *importer, doc spot) {
	im.take(doc.get("metadata.name"), "spec.clusterName")
	im.take(doc.get("baseDomain"), "spec.baseDomain")
	im.take(doc.get("pullSecret"), "spec.pullSecret")
	im.take(doc.get("sshKey"), "spec.sshKeys")
	im.mirrors(firstOf(doc, "imageDigestSources", "imageContentSources")) // the latter before OpenShift 4.14
	im.proxy(doc.get("proxy"))
	im.take(doc.get("additionalTrustBundle"), "spec.additionalTrustBundle")
	im.list(doc.get("platform.baremetal.additionalNTPServers"), "spec.additionalNTPSources")
	im.network(im.host("name", doc.get("platform.baremetal.hosts"), false).get("networkConfig"), spot{})
}

// fromAgentConfig takes over what an agent-config.yaml says about its host.
func fromAgentConfig(im *importer, doc spot) {
	if old := doc.get("spec"); old.node != nil { // it had rendezvousIP and nodes in there
		im.fail(old, fault(message.T("write hosts and the other keys at the top level"), message.T("is how the first agent-configs were written, which cannot be imported")))
		return
	}
	im.take(doc.get("metadata.name"), "spec.clusterName")
	im.list(doc.get("additionalNTPSources"), "spec.additionalNTPSources")
	host := im.host("hostname", doc.get("hosts"), true)
	im.hostname(host.get("hostname"))
	im.network(host.get("networkConfig"), host.get("interfaces"))
}

// fromImageBasedConfig takes over what an image-based-config.yaml of the installer says (pkg/types/imagebased). The names of the
// cluster are in the install-config beside it.
func fromImageBasedConfig(im *importer, doc spot) {
	im.hostname(doc.get("hostname"))
	im.network(doc.get("networkConfig"), spot{})
	im.list(doc.get("additionalNTPSources"), "spec.additionalNTPSources")
}

// hostname takes a name for the node. Whether the node may be given another one is for a person to say.
func (im *importer) hostname(s spot) {
	if im.config.Spec.Hostname != "" {
		im.leave(s, "spec.hostname is already taken from elsewhere in the document")
		return
	}
	im.take(s, "spec.hostname")
	if !s.blank() {
		im.note("spec.hostname needs spec.policy.allowHostnameChange: true; remove it to keep the factory's name")
	}
}

func (im *importer) proxy(s spot) {
	for _, key := range []string{"httpProxy", "httpsProxy", "noProxy"} {
		im.take(s.get(key), "spec.proxy."+key)
	}
}

// firstOf returns the value under the first of the names under which it may stand.
func firstOf(s spot, names ...string) spot {
	for _, name := range names {
		if value := s.get(name); !value.blank() {
			return value
		}
	}
	return spot{}
}
