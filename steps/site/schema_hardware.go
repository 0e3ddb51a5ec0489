package site

// machine says what the machine has to be.
type machine struct {
	// Profile is what the machine is judged by, one of hardwareProfiles; empty is what OpenShift asks for.
	Profile string `yaml:"profile,omitempty" json:"profile,omitempty"`
	// DiskTest has the disk's latency measured before the review.
	DiskTest bool `yaml:"diskTest,omitempty" json:"diskTest,omitempty"`
}

// hardwareProfiles are those of Touchdown (backend/hardware/order, Profiles), and the order sheet that the factory left on the node.
var hardwareProfiles = []string{"sno", "vdu", "retail", "order"}

// hardwareEntries are read by the hardware check. They change nothing on the node.
var hardwareEntries = []entry{
	{
		Item:  Item{Path: "spec.hardware.profile", Type: typeText, Choices: hardwareProfiles, Meaning: "what the machine is judged by: a profile of Touchdown, or order for the order sheet that the factory left on the node; empty: what OpenShift asks for", Example: "vdu"},
		limit: maxAnswer, check: func(s string) error { return oneOf(s, hardwareProfiles) },
		at: func(c *Config) any { return &c.Spec.Hardware.Profile }, younger: true,
	},
	{
		Item: Item{Path: "spec.hardware.diskTest", Type: typeBool, Default: "false", Meaning: "measure before the review how fast the disk is: writes at most 22 MiB for about 30 s and leaves nothing behind; the result is in the report", Example: "false"},
		at:   func(c *Config) any { return &c.Spec.Hardware.DiskTest }, younger: true, spared: true,
	},
}
