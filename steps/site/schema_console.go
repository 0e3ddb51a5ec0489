package site

import (
	"time"

	"touchdown/backend/message"
)

// The time after which a console that nobody uses locks. Chosen.
const (
	minLock = time.Minute
	maxLock = 24 * time.Hour
)

// console says how a console locks that nobody uses.
type console struct {
	// PIN opens a locked console; it is the bcrypt hash of what was typed. Without one, consoles do not lock, save by the PIN of the bake.
	PIN Secret `yaml:"pin,omitempty" json:"pin,omitempty"`
	// LockAfter is how long nobody presses a key before a console locks.
	LockAfter time.Duration `yaml:"lockAfter" json:"lockAfter"`
}

// consoleEntries are how a console locks that nobody uses.
var consoleEntries = []entry{
	{
		Item: Item{
			Path: "spec.console.pin", Type: typePIN, Secret: true, Example: "739215",
			Meaning: "6 to 64 digits or letters that open a console again after nobody used it; in quotes; only its bcrypt hash is kept, and a hash may stand here too; without it the PIN of the bake applies, and without that no console locks",
		},
		at:      func(c *Config) any { return (*string)(&c.Spec.Console.PIN) },
		younger: true,
	},
	{
		Item: Item{
			Path: "spec.console.lockAfter", Type: typeDuration, Unit: "h, m or s", Default: "10m", Example: "10m",
			Meaning: "how long nobody uses a console before it locks, 1m to 24h",
		},
		check:   lockAfter,
		at:      func(c *Config) any { return &c.Spec.Console.LockAfter },
		younger: true,
	},
}

// lockAfter reports what is wrong with the time after which a console locks.
func lockAfter(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d < minLock || d > maxLock {
		return fault(message.T("write 1m to 24h"), message.F("is %s, outside of 1m to 24h", shown(s)))
	}
	return nil
}
