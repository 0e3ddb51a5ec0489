package site

// What becomes of the password of kubeadmin.
const (
	replaced = "replace"
	kept     = "keep"
)

// credentials say how the people of the site get into their cluster.
type credentials struct {
	// Kubeadmin is replace, or keep for the password of the factory.
	Kubeadmin string `yaml:"kubeadmin" json:"kubeadmin"`
}

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
		at: func(c *Config) any { return &c.Spec.Credentials.Kubeadmin },
	},
}
