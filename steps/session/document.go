package session

// Document names what Export can return.
type Document string

// The documents, beside report.HostsFile, the lines for the hosts files of the site's clients.
const (
	ReportText   Document = "report.txt"         // the hand-over report, for people
	ReportJSON   Document = "report.json"        // the same, for machines
	SignedReport Document = "report.signed.json" // the same in a signed envelope, for people elsewhere
	Answers      Document = "answers"            // the site config as YAML, secrets as <set>
	Bundle       Document = "bundle"             // support bundle: .tar.gz of journal, log, snapshot, report, inventory; no secrets
	// BundleOnStick has a bundle written to a stick, and tells where it is: a chosen.Saved in JSON. The name of a volume's device may
	// follow behind a slash.
	BundleOnStick Document = "bundle.stick"
	SummaryText   Document = "summary.txt" // a summary of the bundle as lines for a terminal that someone records
	Inventory     Document = "inventory"   // what the machine is made of, for people; the machine is looked at for it
	// InventoryPage is the same for consoles, which show it in their language: see package inventory.
	InventoryPage Document = "inventory.page"
)
