package steps

import (
	"time"

	"touchdown/backend/clock"
	"touchdown/backend/delivery"
	"touchdown/backend/domain"
	"touchdown/backend/host"
	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// Wiring is what the steps get from the program around them.
type Wiring struct {
	Version string // of Touchdown
	Program string // the file of the running program
	Dir     string // where the report goes: the engine's state folder

	NodeNet *NodeNetwork     // the machine's network, seen by more than one list
	Typed   *clock.Watch     // the time that a person typed, which goes on from list to list; nil: it counts from each list on
	Outbox  *delivery.Outbox // brings reports to the site's monitor; nil: nothing does
	Media   *media.Watcher   // the media in the machine's sockets; nil: none is looked for

	Timeouts domain.Timeouts // how long the cluster may take to serve its new names; zero: domain.Usual

	Brought func(file string) bool // tells whether there is a file about what earlier landings brought into the cluster; nil: there is none
	Line    *host.Machine          // the machine on the bench line, which keeps whether a second person has to sign its seal; nil: none has
	BurnIn  func() time.Duration   // how long a burn-in takes that was asked for on the bench line; nil or 0: none was
}

// typed notes when a time was typed as soon as a list is made for it.
func (w Wiring) typed(cfg *site.Config) *clock.Watch {
	if w.Typed == nil {
		w.Typed = clock.NewWatch(time.Now)
	}
	w.Typed.Set(cfg.Spec.Time.UTC)
	return w.Typed
}

// Site is the wizard for a node at its site: the whole product, in the order of its screens.
func Site(cfg *site.Config, w Wiring) []Stage {
	return withNodeFiles([]Stage{
		{ID: "hardware", Title: message.T("Hardware check"), Steps: []Step{
			&Hardware{Site: cfg, NodeNet: w.NodeNet, Tests: true, Outbox: w.Outbox}, // is the machine what OpenShift needs and as it was shipped, are its cables right, and do its consoles lock?
		}},
		{ID: "network", Title: message.T("Network"), Steps: []Step{
			&NetworkEntry{Site: cfg, NodeNet: w.NodeNet, Media: w.Media}, // asks for port and addresses, and tries the answers out
		}},
		{ID: "site", Title: namesTitle(), Steps: []Step{
			&siteNames{Site: cfg},       // asks what the cluster is called here
			&siteCredentials{Site: cfg}, // asks for pull secret and certificates, all optional
		}},
		{ID: "advanced", Title: message.T("Advanced settings"), Advanced: true, Steps: []Step{
			&advanced{Site: cfg}, // asks for all else that the site config can say
		}},
		{ID: "relocation", Title: message.T("Relocation"), Steps: []Step{
			&siteNetwork{Site: cfg, NodeNet: w.NodeNet},    // tried in memory, kept or put back
			&siteClock{Site: cfg, Typed: w.typed(cfg)},     // before any certificate is looked at
			&siteTrust{Site: cfg},                          // the site's registries, before anything pulls from them
			&localNames{Site: cfg},                         // the new names on the node itself, beside the old ones
			&kubeletGate{},                                 // released; the cluster starts
			&nodeCSRs{},                                    // the node's own certificates, when they expired in storage
			&manifestsTried{Site: cfg},                     // the objects that the site brings, before anything of the cluster is changed
			&siteHostname{Site: cfg},                       // only who insists: the node leaves and comes back
			&nodeConfig{Site: cfg},                         // all that the Machine Config Operator has to do, at once; the credentials with it
			&sitePullSecret{Site: cfg},                     // alone where nothing else is to do, else seen to be there
			&siteCertificates{Site: cfg},                   // for the new names, read back before anything refers to them
			&siteDomain{Site: cfg, Timeouts: w.Timeouts},   // the new names beside the old ones, written close together
			&nameRollouts{Site: cfg, Timeouts: w.Timeouts}, // until each operator has taken them
			&appRoutes{Site: cfg},                          // new addresses for applications whose hosts the cluster chose
		}},
		{ID: "images", Title: message.T("Image store"), Steps: []Step{
			&Images{Site: cfg, Version: w.Version}, // whatever the node runs is here, whole, and needs no registry
		}},
		{ID: "health", Title: message.T("Cluster health"), Steps: []Step{
			&Health{Site: cfg, NodeNet: w.NodeNet}, // well without a break, for as long as the policy wants
		}},
		{ID: "hand-over", Title: message.T("Hand-over"), Steps: []Step{
			&nodeLabels{Site: cfg, Brought: w.Brought},       // for the workloads of the site, whose objects follow
			&manifestsApplied{Site: cfg, Brought: w.Brought}, // what the site brings for its cluster, such as its registration with a hub
			&siteLogin{Site: cfg},                            // the factory's password opens no cluster of a site
			&handOver{Site: cfg, Dir: w.Dir, Reached: w.NodeNet.Reached, Servers: w.NodeNet.NameServers}, // the proof
			&publish{Dir: w.Dir},                              // into the cluster
			&deliver{Site: cfg, Dir: w.Dir, Outbox: w.Outbox}, // to the site's monitor, where it has one
		}},
	})
}
