package main

// table holds every test that needs the bench, and says what it alone proves. test/README.md is made from it.
var table = []Row{
	// Whole nodes, with every change: one pass over every real part.
	{Package: "test/e2e", Run: "TestWrongGateway", Tier: Test, Seconds: 86, Boots: true, Proves: "a landing by hand at the serial line, with a wrong gateway that is put back and a power cut in the middle of the work; the Machine Config Operator's files stay the operator's"},
	{Package: "test/e2e/line", Run: "TestFactoryList", Tier: Test, Seconds: 238, Boots: true, Proves: "the factory's list at a serial line over three reboots, to the seal, and back to the bench line"},
	{Package: "test/e2e/line", Run: "TestImageStoreIsSeededAndRehearsed", Tier: Test, Seconds: 79, Boots: true, Proves: "an image store seeded, moved and rehearsed on a real CRI-O"},
	{Package: "test/e2e/walk", Run: "TestWalk", Tier: Test, Seconds: 144, Boots: true, Proves: "a whole walk over IPMI at 9600 baud, with take-over, login, dropped session and killed console"},
	{Package: "test/bench/node", Run: "TestBakeAndUnbake", Tier: Test, Seconds: 44, Boots: true, Proves: "an installed node is baked, and unbaked to what it was"},
	{Package: "backend/factory", Run: "TestManualInstallOnANode", Tier: Test, Seconds: 14, Boots: true, Proves: "install and uninstall on a booted machine; logins come back"},
	{Package: "backend/network", Run: "TestSettingsOnANode", Tier: Test, Seconds: 112, Boots: true, Proves: "real NetworkManager and libnmstate: settings tried, kept, put back; harmful documents refused"},

	// A cluster without a node: real etcd and kube-apiserver with stand-in operators.
	{Package: "backend/csr", Tier: Test, Seconds: 20, Proves: "the cluster's real signers sign what was approved, by the recovery account where the node's certificate has expired"},
	{Package: "backend/domain", Tier: Test, Seconds: 180, Proves: "names and certificates are merged and restored on a real API; what its operator refuses is told; the order of the writes"},
	{Package: "backend/health", Tier: Test, Seconds: 9, Proves: "health reads a real API"},
	{Package: "backend/login", Tier: Test, Seconds: 37, Proves: "a real API lets the new kubeconfig in under its new name, and no longer after the next one or an undo"},
	{Package: "backend/ledger", Tier: Test, Seconds: 13, Proves: "what makes a node itself is read from a real API"},
	{Package: "backend/images/wanted", Tier: Test, Seconds: 6, Proves: "wanted images are read from a real API"},
	{Package: "backend/factory", Tier: Test, Seconds: 99, Boots: true, Proves: "what the bake makes, against a real API; the units and logins of a booted machine"},
	{Package: "steps", Run: "TestALandingKeepsWhatTheOwnerServes", Tier: All, Seconds: 25, Proves: "a cluster with certificates and a console host of its owner's lands with them, and is undone"},
	{Package: "steps", Tier: Test, Seconds: 120, Proves: "the steps on a real API: move, undo, node configuration, health, hand-over; a real kubelet released"},
	{Package: "steps", Run: "TestANodeComesBackFromLongStorage", Tier: All, Seconds: 90, Boots: true, Proves: "a node whose certificates and signers have all expired says what it waits for, and is ready once the cluster's recovery has renewed them"},
	{Package: "cmd/touchdown", Run: "TestARoughDay", Tier: All, Seconds: 80, Proves: "one job through every fault of the API in turn"},
	{Package: "cmd/touchdown", Run: "TestReplacedCertificatesAfterACut", Tier: All, Seconds: 90, Proves: "certificates replace, cut off behind events of its journal, is ended by the next engine or by the command; the API shows the site's own throughout"},
	{Package: "cmd/touchdown", Tier: Test, Seconds: 112, Proves: "engine and commands with a real API: faults, a life, long storage, nothing before the review"},
	{Package: "backend/images/store", Tier: Test, Seconds: 9, Proves: "real layers on XFS: cloned, verified, damage found"},
	{Package: "backend/images/layerstore", Tier: Test, Seconds: 39, Proves: "the image store cut and killed at every point"},

	{Package: "test/bench/nodeip", Run: "TestTheStandIn", Tier: Test, Seconds: 5, Proves: "the bench's node-ip chooses and writes what OpenShift's does"},

	// Whole nodes, the rest.
	{Package: "test/e2e", Run: "TestSitesWithNothing", Tier: All, Seconds: 420, Boots: true, Proves: "a node lands at sites without name server, time server and gateway, in all eight combinations, and starts again there; clients find it by the report's hosts lines"},
	{Package: "test/e2e", Run: "TestALandingOfIPv6Alone", Tier: All, Seconds: 240, Boots: true, Proves: "a node that was installed without IPv4 is baked, lands at a site without IPv4, answers its names there, and starts again"},
	{Package: "test/e2e", Run: "TestAWipedNode", Tier: All, Seconds: 300, Boots: true, Proves: "a landed and a sealed node are wiped, with a power cut in the middle that the next boot ends; what stays is a cluster that starts again"},
	{Package: "test/e2e", Tier: All, Seconds: 900, Boots: true, Proves: "fault matrices of a landing: API, network, crashes, renames, wrong settings"},
	{Package: "test/e2e/line", Run: "TestAReturnedNode", Tier: All, Seconds: 190, Boots: true, Proves: "a node lands, comes back after its hand-over, is sealed again by the list and lands under another name"},
	{Package: "test/e2e/line", Tier: All, Seconds: 500, Boots: true, Proves: "the image store kept, pruned, moved with a registry, damaged and repaired; default catalog sources fail a rehearsal"},
	{Package: "test/e2e/images", Tier: All, Seconds: 120, Boots: true, Proves: "pulls share layers; moves on a stocked node"},
	{Package: "test/e2e/seeded", Tier: All, Seconds: 150, Boots: true, Proves: "power cuts and bad input while the image store changes"},
	{Package: "test/bench/node", Run: "TestBakeOfTwoFamilies", Tier: All, Seconds: 70, Boots: true, Proves: "a node that was installed with fixed addresses of both families is baked, and keeps both on a boot without a cable"},
	{Package: "test/bench/node", Run: "TestBakeOfIPv6Alone", Tier: All, Seconds: 240, Boots: true, Proves: "a node that was installed without IPv4, with a fixed address or a router's, is baked, keeps its address on a boot without a cable and behind a site's router, and is unbaked"},
	{Package: "test/bench/node", Tier: All, Seconds: 200, Boots: true, Proves: "the bench node itself: out of reach of the machine, power cuts, cables, br-ex, certificates"},
	{Package: "backend/factory", Run: "TestAnOrderOnANode", Tier: All, Seconds: 170, Boots: true, Proves: "a booted machine with nobody at its keys takes the release on a stick that carries an order for it, once; one without an engine is taken back"},
	{Package: "backend/factory", Run: "TestUpdateOnANode", Tier: All, Seconds: 80, Boots: true, Proves: "a signed release replaces Touchdown on a booted machine and is taken back; a program without an engine is not installed, nor after a power cut in its trial or when the command is killed"},
	{Package: "backend/factory", Run: "TestTheInternalAddressNeedsNoSite", Tier: All, Seconds: 40, Boots: true, Proves: "the internal address without cable, server and lease"},
	{Package: "backend/network", Tier: All, Seconds: 90, Boots: true, Proves: "no lease at boot; nmstate documents that a site may bring, over boots"},
	{Package: "backend/kubelet", Tier: All, Seconds: 6, Proves: "a real etcd with torn files is recognised by its words, and starts from the backup"},
	{Package: "backend/probe", Run: "TestEverySiteIsTold", Tier: All, Seconds: 16, Proves: "all 729 sites are told right by the probes; a third of them is among the quick tests"},
	{Package: "backend/images/cri", Tier: All, Seconds: 30, Boots: true, Proves: "a real CRI-O pulls"},
	{Package: "test/bench/daemon", Tier: All, Seconds: 5, Proves: "the Machine Config Daemon's own code reboots for what the review names, and takes the bake's MachineConfigs; the bench renders what Touchdown makes as the operator's own code does"},
	{Package: "test/bench/operators", Run: "TestNodeConfigSteps", Tier: All, Seconds: 60, Proves: "the node's configuration lands and is undone where the real machine-config-controller renders"},
	{Package: "test/bench/login", Tier: All, Seconds: 35, Proves: "OpenShift's own code accepts the new password of kubeadmin and refuses the factory's; undo turns that round"},
	{Package: "test/bench/staticpod", Tier: All, Seconds: 400, Proves: "library-go's own controllers of static pods roll out a move with one start of kube-apiserver, fall back and roll out the undo; the bench's stand-in says the same at each moment"},
	{Package: "test/bench", Tier: All, Seconds: 60, Proves: "the cluster of the bench itself"},
	{Package: "test/bench/kernel", Run: "TestALiveImageInstalls", Tier: All, Seconds: 150, Alone: true, Proves: "a filled live image boots on a separate kernel, checks the machine, writes a real disk through a stand-in of coreos-installer, starts again after a power cut, reboots, and refuses from then on"},
	{Package: "test/bench/kernel", Run: "TestALiveImageBringsTheSiteConfig", Tier: All, Seconds: 240, Alone: true, Proves: "a live image with the answers of one machine's site installs that machine alone, once, and another machine is told why not; what was installed lands by them with nobody there"},
	{Package: "test/bench/kernel", Run: "TestAStickOfUSB", Tier: All, Seconds: 150, Alone: true, Proves: "a USB stick of a real kernel is read, gets the question at which a start stopped, and has a node land that nobody is at"},
	{Package: "test/bench/kernel", Tier: All, Seconds: 680, Alone: true, Proves: "VLAN, bond, large packets and true boots on a separate kernel, which keeps off the line of an open console"},

	{Package: "test/bench/nodeip", Run: "TestNodeIP", Tier: Real, Seconds: 5, Proves: "OpenShift's own node-ip leaves the address alone that Touchdown notes down, and takes the site's where nothing is noted"},
	{Package: "test/bench/operators", Tier: Real, Seconds: 900, Alone: true, Proves: "a move, its undo and hostile configurations end as with the stand-ins where OpenShift's own operators do the work; how the stand-ins differ; a move and its undo start kube-apiserver once each; the real machine-config-controller renders once"},
	{Make: "bench-networkmanager", Tier: Own, Seconds: 1500, Boots: true, Proves: "the node's network keeps what the others prove with NetworkManager 1.42, that of OpenShift 4.14 and 4.15"},

	// What is not a Go test.
	{Make: "lint", Tier: All, Seconds: 120, Proves: "the linters of .golangci.yml find nothing"},
	{Make: "cover-whole", Tier: All, Seconds: 40, Proves: "every statement of the journal, the runner and undo is reached by the tests of their package"},
	{Make: "release", Tier: All, Seconds: 60, Proves: "two builds of a release are the same bytes"},
	{Make: "bench SMALL=1", Tier: All, Seconds: 300, Alone: true, Proves: "the measurements of console, moves and relocation run"},
	{Make: "bench-images SMALL=1", Tier: All, Seconds: 300, Alone: true, Proves: "the measurements of image store and pulls run"},
	{Make: "bench-walk", Tier: All, Seconds: 600, Alone: true, Proves: "the measured walks run at all three consoles"},
}
