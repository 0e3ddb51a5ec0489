// Package layout names where Touchdown lies on a node and what its consumers share: one place for each path and name.
package layout

const (
	// Program is the one file that engine, consoles and commands are.
	Program = "/usr/local/bin/touchdown"
	// PreviousProgram is the one that the last update has replaced.
	PreviousProgram = Program + ".previous"
	// CandidateProgram is the one of a release while its engine is being tried.
	CandidateProgram = Program + ".new"
	// CheckedProgram is the one of a release while it is only asked for its version.
	CheckedProgram = Program + ".check"
	// TrialUnit is the timer that ends the trial of a program, without its suffix: while it runs, an update may be at work. TrialDropIn has
	// the engine's unit run the program that is tried.
	TrialUnit   = "touchdown-update-end"
	TrialDropIn = "/run/systemd/system/" + EngineUnit + ".d/zz-touchdown-update.conf"
	// EngineUnit keeps the engine of an installed node running.
	EngineUnit = "touchdown-engine.service"
	// Run holds what ends with the boot.
	Run = "/run/touchdown"
	// UpdateRecord is the update of Touchdown that a console asked for last.
	UpdateRecord = Run + "/update.json"
	// Socket is where the engine listens.
	Socket = Run + "/engine.sock"
	// Lines has a file for each line that touchdown-line keeps the kernel's messages off, named after it.
	Lines = Run + "/lines"

	// State is the state folder of the engine at a site, and what every other name in it begins with: journal, answers, originals, report.
	State = "/var/lib/touchdown"
	// Journal is where the engine keeps what happened at a site.
	Journal = State + "/" + JournalFile
	// JournalFile is its name in any state folder.
	JournalFile = "journal.jsonl"
	// Transcript is the name in any state folder of what the consoles showed last, and EarlierTranscript of what they showed before.
	Transcript        = "consoles.txt"
	EarlierTranscript = "consoles-earlier.txt"
	// Armed is the file that the factory leaves as its last act and that the release of kubelet removes: while it is there, kubelet
	// does not start (ConditionPathExists in its unit).
	Armed = State + "/armed"
	// ConsolePIN has the hash of the PIN that the bake gave the consoles.
	ConsolePIN = State + "/console-pin.json"
	// FactoryRecord is what the bake knew of the node: names, networks, ports, certificates.
	FactoryRecord = State + "/factory.json"
	// FactoryState is the state folder of the work on the bench line, beside that of the site.
	FactoryState = State + "/" + FactoryFolder
	// FactoryFolder is its name in any state folder.
	FactoryFolder = "factory"
	// Shipped is the machine as the factory shipped it: an inventory as JSON.
	Shipped = FactoryState + "/shipped.json"
	// Order is the order sheet that the factory was given: what the machine has to have, and where its cables go.
	Order = FactoryState + "/order.yaml"
	// BurnIn says that a burn-in was asked for on the bench line, and for how long.
	BurnIn = FactoryState + "/burn-in.json"
	// BurnInResult has the figures of a burn-in that came to its end.
	BurnInResult = FactoryState + "/burn-in-result.json"
	// DiskTest has the figures of the disk test that was asked for at a site.
	DiskTest = State + "/disk-test.json"
	// ReportKey is the node's own key (Ed25519, PEM): it signs the reports of this node. It is made where it is first used, and stays.
	ReportKey = State + "/report-key.pem"
	// ReportPublic is the public half of ReportKey. The factory's ledger has it, too.
	ReportPublic = State + "/report-key.pub"
	// Installed remembers what touchdown install laid, so that uninstall removes this and nothing else.
	Installed = State + "/installed.json"
	// Media is what the node knows of site media: whose signatures it trusts, its own key, which media it has used.
	Media = State + "/media"
	// Outbox is where deliveries to the site's monitor wait, with its settings.
	Outbox = State + "/" + outboxFolder
	// outboxFolder is its name in any state folder.
	outboxFolder = "outbox"
	// ClusterBackup holds the cluster's state from before the cluster was started at its site, below the paths where it belongs.
	ClusterBackup = State + "/cluster-backup"
	// Returned has a folder for each time that the node came back to the factory: the records of its job at the site, as its engine kept them.
	Returned = State + "/" + ReturnedFolder
	// ReturnedFolder is its name in any state folder.
	ReturnedFolder = "returned"
	// SiteObjects names the objects that landings brought into the cluster for the site and that are still there.
	SiteObjects = State + "/site-objects.json"
	// ImagesState is what Touchdown knows of the image store.
	ImagesState = State + "/images"
)

// Pool is the MachineConfigPool of a single node (openshift/machine-config-operator, manifests/master.machineconfigpool.yaml).
const Pool = "master"
