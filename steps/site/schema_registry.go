package site

// registryEntries say where images come from, and who may log in to the node.
var registryEntries = append([]entry{
	{
		Item:  Item{Path: "spec.pullSecret", Type: typeJSON, Meaning: "credentials for the image registries; without them the factory's stay", Example: `'{"auths":{"quay.io":{"auth":"dXNlcjpwYXNz"}}}'`, Secret: true},
		limit: maxPullSecret, check: PullSecret,
		at: func(c *Config) any { return (*string)(&c.Spec.PullSecret) },
	},
	{
		Item: Item{Path: "spec.pullSecretFile", Type: typeFile, Meaning: "file beside this document that holds the pull secret", Example: "pull-secret.json"},
		into: "spec.pullSecret",
	},
	{
		Item:  Item{Path: "spec.sshKeys", Type: typeList, Unit: "one a line", Meaning: "public keys with which the user core may log in", Example: "[ssh-ed25519 AAAA... user@example.com]"},
		limit: maxKeys, check: sshKeys, lines: true,
		at: func(c *Config) any { return &c.Spec.SSHKeys },
	},
}, mirrorEntries...)

var mirrorEntries = []entry{
	{
		Item: Item{Path: "spec.imageDigestMirrors", Type: typeGroups, Meaning: "where images named by digest are pulled from (ImageDigestMirrorSet); errors and reports show their paths, so no token belongs there", Example: mirrorExample},
		at:   func(c *Config) any { return groupsOf[Mirror, *Mirror]{&c.Spec.ImageDigestMirrors} },
	},
	mirrorSource("spec.imageDigestMirrors[].source"),
	mirrorMirrors("spec.imageDigestMirrors[].mirrors"),
	mirrorPolicy("spec.imageDigestMirrors[].mirrorSourcePolicy"),
	{
		Item: Item{Path: "spec.imageTagMirrors", Type: typeGroups, Meaning: "where images named by tag are pulled from (ImageTagMirrorSet); drains the node; errors and reports show their paths, so no token belongs there", Example: mirrorExample},
		at:   func(c *Config) any { return groupsOf[Mirror, *Mirror]{&c.Spec.ImageTagMirrors} },
	},
	mirrorSource("spec.imageTagMirrors[].source"),
	mirrorMirrors("spec.imageTagMirrors[].mirrors"),
	mirrorPolicy("spec.imageTagMirrors[].mirrorSourcePolicy"),
	{
		Item: Item{Path: "spec.removeFactoryMirrors", Type: typeBool, Default: "false", Meaning: "remove the factory's mirrors once the site's are in place; drains the node", Example: "false"},
		at:   func(c *Config) any { return &c.Spec.RemoveFactoryMirrors },
	},
	{
		Item: Item{Path: "spec.registryCerts", Type: typeGroups, Meaning: "authorities that sign the certificates of the site's registries", Example: "[{registryHostname: registry.example.com, registryPort: 5000, certificateFile: registry.crt}]"},
		at:   func(c *Config) any { return groupsOf[RegistryCert, *RegistryCert]{&c.Spec.RegistryCerts} },
	},
	{
		Item:  Item{Path: "spec.registryCerts[].registryHostname", Type: typeText, Meaning: "the registry's name or IPv4 address, without the port", Example: "registry.example.com", Required: true},
		limit: maxName, check: registryHostname, cell: true,
	},
	{
		Item:  Item{Path: "spec.registryCerts[].registryPort", Type: typeNumber, Unit: "1 to 65535", Meaning: "the registry's port; empty: 443", Example: "5000"},
		check: Port, cell: true,
	},
	{
		Item:  Item{Path: "spec.registryCerts[].certificate", Type: typePEM, Meaning: "the authority's certificate", Example: "|", Required: true},
		limit: maxPEM, check: CABundle, cell: true,
	},
	{
		Item: Item{Path: "spec.registryCerts[].certificateFile", Type: typeFile, Meaning: "file beside this document that holds the authority's certificate", Example: "registry.crt"},
		into: "spec.registryCerts[].certificate",
	},
}

const mirrorExample = "[{source: quay.io/openshift-release-dev/ocp-release, mirrors: [\"registry.example.com:5000/ocp\"]}]"

func mirrorSource(path string) entry {
	return entry{
		Item:  Item{Path: path, Type: typeText, Meaning: "repository or registry as images name it, without scheme and tag; *.example.com for all below a domain", Example: "quay.io/openshift-release-dev/ocp-release", Required: true},
		limit: maxImageName, check: MirrorSource, cell: true,
	}
}

func mirrorMirrors(path string) entry {
	return entry{
		Item:  Item{Path: path, Type: typeList, Meaning: "where to pull from instead, tried in this order", Example: "[\"registry.example.com:5000/ocp\"]", Required: true},
		limit: maxList, check: mirrorLocations, cell: true,
	}
}

func mirrorPolicy(path string) entry {
	return entry{
		Item:  Item{Path: path, Type: typeText, Choices: mirrorPolicies, Meaning: "whether the source is asked when no mirror has the image; empty: it is", Example: "AllowContactingSource"},
		limit: maxAnswer, check: mirrorSourcePolicy, cell: true,
	}
}

// proxyEntries say how the node gets out of the site, and whom it trusts there.
var proxyEntries = []entry{
	{
		Item:  Item{Path: "spec.proxy.httpProxy", Type: typeText, Meaning: "URL of the proxy for http; secret when it holds a password", Example: "http://proxy.example.com:3128", Secret: true},
		limit: maxURL, check: httpProxyURL, guard: holdsPassword,
		at: func(c *Config) any { return (*string)(&c.Spec.Proxy.HTTPProxy) },
	},
	{
		Item:  Item{Path: "spec.proxy.httpsProxy", Type: typeText, Meaning: "URL of the proxy for https; secret when it holds a password", Example: "http://proxy.example.com:3128", Secret: true},
		limit: maxURL, check: proxyURL, guard: holdsPassword,
		at: func(c *Config) any { return (*string)(&c.Spec.Proxy.HTTPSProxy) },
	},
	{
		Item:  Item{Path: "spec.proxy.noProxy", Type: typeText, Meaning: "names, addresses and subnets that are reached without the proxy, separated by commas; the cluster's own are added", Example: ".example.com,198.51.100.0/24"},
		limit: maxList, check: noProxy,
		at: func(c *Config) any { return &c.Spec.Proxy.NoProxy },
	},
	{
		Item:  Item{Path: "spec.additionalTrustBundle", Type: typePEM, Meaning: "authorities of the site that node and cluster trust", Example: "|"},
		limit: maxPEM, check: CABundle,
		at: func(c *Config) any { return &c.Spec.AdditionalTrustBundle },
	},
	{
		Item: Item{Path: "spec.additionalTrustBundleFile", Type: typeFile, Meaning: "file beside this document that holds spec.additionalTrustBundle", Example: "site-ca.crt"},
		into: "spec.additionalTrustBundle",
	},
}
