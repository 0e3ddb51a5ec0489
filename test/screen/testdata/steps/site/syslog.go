package site

// syslogEntries say where the node sends its log.
var syslogEntries = []entry{
	{
		Item:  Item{Path: "spec.syslogServer", Type: typeText, Meaning: "server that the node sends its log to, by TCP on port 514", Example: "log.example.com"},
		limit: maxName, check: SyslogServer,
		at:      func(c *Config) any { return &c.Spec.SyslogServer },
		younger: true,
	},
}

// SyslogServer reports what is wrong with the name or the address of a syslog server.
func SyslogServer(s string) error {
	if f := hostOrAddress(s); f != nil {
		return f
	}
	return nil
}
