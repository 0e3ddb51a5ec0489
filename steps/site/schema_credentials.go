package site

import (
	"strconv"
	"time"

	"touchdown/backend/message"
)

// maxKubeconfigDays is what OpenShift's own administrator's kubeconfig lasts, ten years.
const maxKubeconfigDays = 3650

// What becomes of the password of kubeadmin.
const (
	replaced = "replace"
	kept     = "keep"
)

// credentials say how the people of the site get into their cluster.
type credentials struct {
	// Kubeadmin is replace, or keep for the password of the factory.
	Kubeadmin string `yaml:"kubeadmin" json:"kubeadmin"`
	// Show lets the console that has control show the new password, on request, until the hand-over is accepted.
	Show bool `yaml:"show" json:"show"`
	// KubeconfigDays is how long a kubeconfig that Touchdown hands out is accepted, 1 to 3650.
	KubeconfigDays int `yaml:"kubeconfigDays" json:"kubeconfigDays"`
	// ClusterSecret puts password and kubeconfig into a Secret of the cluster, for a hub.
	ClusterSecret bool `yaml:"clusterSecret" json:"clusterSecret"`
}

// Life is how long a kubeconfig is accepted.
func (c credentials) Life() time.Duration { return time.Duration(c.KubeconfigDays) * 24 * time.Hour }

// Keeps tells whether the factory's password of kubeadmin stays.
func (c credentials) Keeps() bool { return c.Kubeadmin == kept }

// credentialEntries are how the people of the site get into their cluster.
var credentialEntries = []entry{
	{
		Item: Item{
			Path: "spec.credentials.kubeadmin", Type: typeText, Default: replaced, Choices: []string{replaced, kept},
			Meaning: "replace the factory's password of kubeadmin by a new one of this node, or keep it", Example: replaced,
		},
		limit: maxName, check: func(s string) error { return oneOf(s, []string{replaced, kept}) },
		at:      func(c *Config) any { return &c.Spec.Credentials.Kubeadmin },
		younger: true,
	},
	{
		Item: Item{
			Path: "spec.credentials.show", Type: typeBool, Default: "true",
			Meaning: "the console that has control may show the new password, on request, until the hand-over is accepted", Example: "true",
		},
		at:      func(c *Config) any { return &c.Spec.Credentials.Show },
		younger: true,
	},
	{
		Item: Item{
			Path: "spec.credentials.kubeconfigDays", Type: typeNumber, Unit: "days", Default: "365",
			Meaning: "how long a kubeconfig that `touchdown credentials` hands out is accepted, 1 to 3650", Example: "365",
		},
		check:   kubeconfigDays,
		at:      func(c *Config) any { return &c.Spec.Credentials.KubeconfigDays },
		younger: true,
	},
	{
		Item: Item{
			Path: "spec.credentials.clusterSecret", Type: typeBool, Default: "false",
			Meaning: "put password and kubeconfig into a Secret in openshift-config, from which a hub fetches them", Example: "false",
		},
		at:      func(c *Config) any { return &c.Spec.Credentials.ClusterSecret },
		younger: true,
	},
}

func kubeconfigDays(s string) error {
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > maxKubeconfigDays {
		return fault(message.F("write 1 to %s", strconv.Itoa(maxKubeconfigDays)), message.F("is %s days", s))
	}
	return nil
}

// credentials judges whether anyone will know the new password.
func (v *judge) credentials() {
	if c := v.config.Spec.Credentials; !c.Keeps() && !c.Show && !c.ClusterSecret {
		v.warn("spec.credentials.show", fault(message.T("set one of the two to true, or use only the kubeconfig"), message.T("is false, and so is spec.credentials.clusterSecret: nobody will know the new password of kubeadmin")))
	}
}
