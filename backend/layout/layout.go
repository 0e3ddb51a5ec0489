// Package layout names where Touchdown lies on a node and what its consumers share: one place for each path and name.
package layout

const (
	// Program is the one file that engine, consoles and commands are.
	Program = "/usr/local/bin/touchdown"
	// Socket is where the engine listens.
	Socket = "/run/touchdown/engine.sock"

	// State is the engine's state folder at a site: its journal, answers, originals and report.
	State = "/var/lib/touchdown"
	// Journal is where the engine keeps what happened at a site.
	Journal = "/var/lib/touchdown/journal.jsonl"
	// Armed is the file that the factory leaves as its last act and that the release of kubelet removes: while it is there, kubelet
	// does not start (ConditionPathExists in its unit).
	Armed = "/var/lib/touchdown/armed"
	// ConsolePIN has the hash of the PIN that the bake gave the consoles.
	ConsolePIN = "/var/lib/touchdown/console-pin.json"
	// FactoryRecord is what the bake knew of the node: names, networks, ports, certificates.
	FactoryRecord = "/var/lib/touchdown/factory.json"
	// FactoryState is the state folder of the work on the bench line, beside that of the site.
	FactoryState = "/var/lib/touchdown/factory"
	// Shipped is the machine as the factory shipped it: an inventory as JSON.
	Shipped = "/var/lib/touchdown/factory/shipped.json"
	// ReportKey is the node's own key (Ed25519, PEM): it signs the reports of this node. It is made where it is first used, and stays.
	ReportKey = "/var/lib/touchdown/report-key.pem"
	// ReportPublic is the public half of ReportKey. The factory's ledger has it, too.
	ReportPublic = "/var/lib/touchdown/report-key.pub"
	// Installed remembers what touchdown install laid, so that uninstall removes this and nothing else.
	Installed = "/var/lib/touchdown/installed.json"
	// Media is what the node knows of site media: whose signatures it trusts, its own key, which media it has used.
	Media = "/var/lib/touchdown/media"
	// ClusterBackup holds the cluster's state from before the cluster was started at its site, below the paths where it belongs.
	ClusterBackup = "/var/lib/touchdown/cluster-backup"
	// ImagesState is what Touchdown knows of the image store.
	ImagesState = "/var/lib/touchdown/images"
)

// Pool is the MachineConfigPool of a single node (openshift/machine-config-operator, manifests/master.machineconfigpool.yaml).
const Pool = "master"
