package tui

// offerTexts are the texts of the page about a support bundle on the network.
var offerTexts = map[string]string{
	"key.offer":        "on the network",
	"button.offer":     "Bundle on the network",
	"button.offerMore": "Offer it again",
	"button.offerEnd":  "End the offer",

	"offer.title":   "Support bundle on the network",
	"offer.fetch":   "On a computer in the same network open this address, once, until %s UTC:",
	"offer.open":    "The bundle has no secrets. HTTP does not encrypt it: anyone on the network can read along. Compare the SHA-256 afterwards.",
	"offer.file":    "%s, %d kB",
	"offer.nobody":  "Nobody has fetched it yet.",
	"offer.getting": "%s fetches it: %d of %d kB",
	"offer.got":     "%s fetched all of it at %s UTC.",
	"offer.part":    "%s fetched %d of %d kB and stopped.",
	"offer.code":    "Scan for the bundle",

	"offer.taken":     "The offer has ended: the bundle was fetched. Nothing listens any more.",
	"offer.time":      "The offer has ended: its time is over. Nothing listens any more.",
	"offer.withdrawn": "The offer was ended. Nothing listens any more.",

	"bundle.failed": "The support bundle was not saved: %s",
	"bundle.ways":   "With a full disk: put a stick in and try again, or offer the bundle on the network. Neither needs the disk.",
}
