package steps

import (
	"touchdown/backend/message"
	"touchdown/steps/site"
)

// Factory is the list of the bench line: the validation checklist of a node, and all that prepares it for the road. The node
// reboots three times on the way; the engine goes on after each.
func Factory(cfg *site.Config, w Wiring) []Stage {
	cfg.Spec.Policy.SeedImages = true // no question on the bench line: a node without its images is not shipped
	second := &secondPerson{Site: cfg, Dir: w.Dir, Host: w.Line}
	return []Stage{
		{ID: "hardware", Title: message.T("Hardware check"), Steps: []Step{
			&Hardware{Factory: true}, // is the machine what OpenShift needs?
			&burnIn{Asked: w.BurnIn}, // and does it hold under load? only where that was asked for
		}},
		{ID: "bake", Title: message.T("Make relocatable"), Steps: bake(w.Program, BakeOptions{})},
		{ID: "images", Title: message.T("Image store"), Steps: []Step{
			&Images{Site: cfg, Version: w.Version}, // all that the node runs, without a registry
			&rehearsal{},                           // and the proof: a start with nothing else
		}},
		{ID: "health", Title: message.T("Cluster health"), Steps: []Step{
			&Health{Site: cfg, NodeNet: w.NodeNet}, // well without a break
		}},
		{ID: "ticks", Title: message.T("By hand"), Steps: []Step{
			&byHand{}, // what only a person sees
		}},
		{ID: "seal", Title: message.T("Seal"), Steps: []Step{
			&copyCheck{},                               // no other node has its keys
			&bakeRecord{Tool: w.Version},               // what leaves the factory
			&FactoryReport{Dir: w.Dir, second: second}, // the proof, on the node and for the factory's files
			&seal{second: second},                      // a second person signs where the factory demands it; the next boot waits for the site
		}},
	}
}

// BakeOptions say how far a bake goes.
type BakeOptions struct {
	Arm          bool   // let the next boot wait for the site
	Armed        bool   // the next boot waits already: the cluster was baked, and rests
	KeepCatalogs bool   // leave the default catalog sources on
	MediaKeys    []byte // public halves of the keys that sign site media; nil: those that were chosen on the bench line
	ReleaseKeys  []byte // the same of the keys that sign releases

	PIN site.Secret // of the consoles; "": unchanged
}

// Bake is the part of it that `touchdown factory bake` does alone. It runs again after the node's reboot and goes on where the
// machine is.
func Bake(tool, program string, o BakeOptions) []Stage {
	list := bake(program, o)
	if o.Armed { // the others ask the API
		list = []Step{&bakeProgram{From: program}}
	}
	list = append(list, &bakePIN{o.PIN}, &bakeRecord{Tool: tool, Keys: o.MediaKeys, Releases: o.ReleaseKeys})
	if o.Arm {
		list = append(list, &bakeArm{}) // last of all: the next boot waits for the site
	}
	return []Stage{{ID: "bake", Title: message.T("Make relocatable"), Steps: list}}
}

func bake(program string, o BakeOptions) []Step {
	return []Step{
		&bakeCheck{},                        // can this cluster be baked?
		&bakeProgram{From: program},         // the file that the units start
		&bakeCatalogs{Keep: o.KeepCatalogs}, // what could never start without a registry
		&bakeUplink{},                       // the profile that br-ex is built from carries the internal address
		&bakeConfiguration{},                // MachineConfigs in one batch; the node reboots once
		&bakeVerify{},                       // what the machine really has now
	}
}
