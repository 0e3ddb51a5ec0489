package site

// certificateEntries are what the cluster shows to its clients.
var certificateEntries = []entry{
	{
		Item:  Item{Path: "spec.apiCert.cert", Type: typePEM, Meaning: "certificate for api.D, then its intermediates; without one the cluster signs its own", Example: "|"},
		limit: maxPEM, check: Certificate,
		at: func(c *Config) any { return &c.Spec.APICert.Cert },
	},
	{
		Item: Item{Path: "spec.apiCert.certFile", Type: typeFile, Meaning: "file beside this document that holds spec.apiCert.cert", Example: "api.crt"},
		into: "spec.apiCert.cert",
	},
	{
		Item:  Item{Path: "spec.apiCert.key", Type: typePEM, Meaning: "key of that certificate, RSA or EC, not encrypted", Example: "|", Secret: true},
		limit: maxPEM, check: PrivateKey,
		at: func(c *Config) any { return (*string)(&c.Spec.APICert.Key) },
	},
	{
		Item: Item{Path: "spec.apiCert.keyFile", Type: typeFile, Meaning: "file beside this document that holds spec.apiCert.key", Example: "api.key"},
		into: "spec.apiCert.key",
	},
	{
		Item:  Item{Path: "spec.ingressCert.cert", Type: typePEM, Meaning: "certificate for *.apps.D, then its intermediates; without one the cluster signs its own", Example: "|"},
		limit: maxPEM, check: Certificate,
		at: func(c *Config) any { return &c.Spec.IngressCert.Cert },
	},
	{
		Item: Item{Path: "spec.ingressCert.certFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.cert", Example: "apps.crt"},
		into: "spec.ingressCert.cert",
	},
	{
		Item:  Item{Path: "spec.ingressCert.key", Type: typePEM, Meaning: "key of that certificate, RSA or EC, not encrypted", Example: "|", Secret: true},
		limit: maxPEM, check: PrivateKey,
		at: func(c *Config) any { return (*string)(&c.Spec.IngressCert.Key) },
	},
	{
		Item: Item{Path: "spec.ingressCert.keyFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.key", Example: "apps.key"},
		into: "spec.ingressCert.key",
	},
	{
		Item:  Item{Path: "spec.ingressCert.ca", Type: typePEM, Meaning: "root certificate of that certificate, when it is not public", Example: "|"},
		limit: maxPEM, check: CABundle,
		at: func(c *Config) any { return &c.Spec.IngressCert.CA },
	},
	{
		Item: Item{Path: "spec.ingressCert.caFile", Type: typeFile, Meaning: "file beside this document that holds spec.ingressCert.ca", Example: "root.crt"},
		into: "spec.ingressCert.ca",
	},
}

// policyEntries are what may happen without asking.
var policyEntries = []entry{
	{
		Item: Item{Path: "spec.policy.allowReboot", Type: typeBool, Default: "true", Meaning: "the node may be rebooted when a step needs it", Example: "true"},
		at:   func(c *Config) any { return &c.Spec.Policy.AllowReboot },
	},
	{
		Item: Item{Path: "spec.policy.allowHostnameChange", Type: typeBool, Default: "false", Meaning: "the node may be given another name, which OpenShift does not support and which takes a reboot", Example: "false"},
		at:   func(c *Config) any { return &c.Spec.Policy.AllowHostnameChange },
	},
	{
		Item: Item{Path: "spec.policy.keepNetworkWhenProbesPass", Type: typeBool, Default: "true", Meaning: "keep new network settings without asking when every probe has passed", Example: "true"},
		at:   func(c *Config) any { return &c.Spec.Policy.KeepNetworkWhenProbesPass },
	},
	{
		Item: Item{Path: "spec.policy.keepNetworkUnanswered", Type: typeBool, Default: "false", Meaning: "keep new network settings when nobody answers in time whether to; else the old ones come back", Example: "false"},
		at:   func(c *Config) any { return &c.Spec.Policy.KeepNetworkUnanswered },
	},
	{
		Item: Item{Path: "spec.policy.rollbackOnFailure", Type: typeBool, Default: "true", Meaning: "put everything back when a step fails and nobody is there to decide", Example: "true"},
		at:   func(c *Config) any { return &c.Spec.Policy.RollbackOnFailure },
	},
	{
		Item: Item{Path: "spec.policy.keepGoingOnWarnings", Type: typeBool, Default: "false", Meaning: "start a headless run although checks or answers only warn; at a console the person judges", Example: "false"},
		at:   func(c *Config) any { return &c.Spec.Policy.KeepGoingOnWarnings },
	},
	{
		Item: Item{Path: "spec.policy.seedImages", Type: typeBool, Default: "true", Meaning: "keep all images that the node runs in a store that needs no registry", Example: "true"},
		at:   func(c *Config) any { return &c.Spec.Policy.SeedImages },
	},
	{
		Item:  Item{Path: "spec.policy.stabilityWindow", Type: typeDuration, Unit: "h, m or s", Default: "2m", Meaning: "how long the cluster has to stay healthy without a break, 1s to 30m", Example: "2m"},
		check: stabilityWindow,
		at:    func(c *Config) any { return &c.Spec.Policy.StabilityWindow },
	},
	{
		Item:  Item{Path: "spec.policy.watchdog", Type: typeDuration, Unit: "h, m or s", Default: "30m", Meaning: "how long a landing may go without progress before it counts as stuck, 5m to 4h", Example: "30m"},
		check: watchdog,
		at:    func(c *Config) any { return &c.Spec.Policy.Watchdog },
	},
	{
		Item:  Item{Path: answers + "<question>", Type: typeText, Meaning: "answer to a question, by its id, when nobody answers it in time", Example: "keep"},
		limit: maxAnswer, answer: true,
	},
}
