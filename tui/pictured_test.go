package tui

import (
	"slices"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// pictures are the README's screens. Stages, titles, fields and help are the product's own lists; what the machine and the
// site answer is an example.
func pictures() []scene {
	show := func(name string, cfg *site.Config, edit func(*view.Snapshot), keys ...string) scene {
		return scene{name, []func(*view.Snapshot){func(s *view.Snapshot) {
			*s = collected(cfg)
			s.Hostname = "sno-factory"
			edit(s)
		}}, keys}
	}
	all := append(slices.Clone(network), names...)
	return []scene{
		show("hardware", typedIn(nil), seeHardware, "up", "up", "up", "up", "up", "up", "up"),
		show("network", typedIn(network), offerPorts, "tab", "tab", "tab", "tab"),
		show("question", typedIn(all), keepOrBack),
		show("relocation", typedIn(all), relocating),
		show("landed", typedIn(all), landedWell),
		show("factory", site.New(), seeding),
	}
}

// network and names are answers that a technician typed, with a mistake in the gateway.
var (
	network = [][2]string{
		{"spec.network.ipv4.method", "static"},
		{"spec.network.ipv4.address", "198.51.100.10"},
		{"spec.network.ipv4.prefixLength", "24"},
		{"spec.network.ipv4.gateway", "198.51.100.99"},
		{"spec.network.dnsServers", "198.51.100.53"},
		{"spec.additionalNTPSources", "198.51.100.123"},
	}
	names = [][2]string{{"spec.clusterName", "store0042"}, {"spec.baseDomain", "retail.example.com"}}
)

// typedIn is a site config that a technician typed.
func typedIn(answers [][2]string) *site.Config {
	cfg := site.New()
	for _, a := range answers {
		if err := cfg.Set(a[0], a[1]); err != nil {
			panic(err)
		}
	}
	return cfg
}

// collected is the site's list before its review.
func collected(cfg *site.Config) view.Snapshot {
	return view.Snapshot{
		Seq: 7, Version: "1.0", Hostname: "sno-042.factory.example", Serial: "7XK2Q13", Life: "armed", List: view.ListSite,
		State: view.Collecting, Now: epoch, Stages: shown(steps.Site(cfg, steps.Wiring{}), cfg),
	}
}

// shown is what a console sees of a list before anything ran.
func shown(list []steps.Stage, cfg *site.Config) []view.Stage {
	var stages []view.Stage
	for _, stage := range list {
		v := view.Stage{ID: stage.ID, Title: stage.Title, Advanced: stage.Advanced}
		for _, step := range stage.Steps {
			one := view.Step{ID: step.ID(), Title: step.Title(), Status: view.Pending}
			if s, ok := step.(steps.Skipper); ok {
				one.Skip = s.Skip()
			}
			for _, f := range steps.FieldsOf(step) {
				value, _ := cfg.Get(f.Path)
				field := view.Field{
					Path: f.Path, Kind: f.Kind, Label: f.Label, Help: f.Help, Example: f.Example, Optional: f.Optional,
					Value: value, Choices: f.Choices, Visible: f.Visible == nil || f.Visible(), Act: f.Act, Repeats: f.Repeats,
				}
				if value != "" {
					field.Source, field.Changed = cfg.Sources[f.Path], cfg.Sources[f.Path] == site.Typed
				}
				one.Fields = append(one.Fields, field)
			}
			v.Steps = append(v.Steps, one)
		}
		stages = append(stages, v)
	}
	return stages
}

// at finds a step.
func at(s *view.Snapshot, id string) *view.Step {
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			if step := &s.Stages[i].Steps[j]; step.ID == id {
				return step
			}
		}
	}
	panic("there is no step " + id)
}

func seen(status, title, observed string) check.Check {
	c := check.Check{ID: title, Title: message.Data(title), Observed: message.Data(observed)}
	c.Status = map[string]check.Check{"pass": {Status: "pass"}, "warn": {Status: "warn"}}[status].Status
	return c
}

func seeHardware(s *view.Snapshot) {
	tpm := seen("warn", "Security chip (TPM)", "none")
	tpm.ID = "hw-tpm"
	tpm.Expected, tpm.Fix = message.T("2.0"), message.T("Switch it on in the firmware's setup, where the machine has one.")
	at(s, "hardware").Checks = []check.Check{
		seen("pass", "Processor threads (vCPU)", "16 threads on 8 cores"), seen("pass", "Processor generation", "x86-64-v3"),
		seen("pass", "Memory", "64.0 GiB"), seen("pass", "System disk size", "nvme0n1, 960 GB"),
		seen("pass", "Network cable", "enp1s0 up, enp2s0 down"), tpm, seen("pass", "System clock", "2026-11-21 02:13 UTC"),
	}
}

func offerPorts(s *view.Snapshot) {
	port := &at(s, "network-settings").Fields[0]
	port.Value, port.Found, port.Source = "enp1s0", "enp1s0", "current"
	port.Choices = []steps.Choice{{Value: "enp1s0", Label: message.Join([]message.Text{message.Data("enp1s0"), message.Data("10 Gbit/s"), message.T("link up"), message.T("in use")}, ", ")}, {Value: "enp2s0", Label: message.Join([]message.Text{message.Data("enp2s0"), message.T("no cable")}, ", ")}}
}

// until marks all steps before one as done, and that one as at work.
func until(s *view.Snapshot, id string) *view.Step {
	s.State, s.Life, s.Current, s.Started = view.Working, "landing", id, epoch.Add(-6*time.Minute)
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			step := &s.Stages[i].Steps[j]
			if step.ID == id {
				step.Status, step.Started = view.Running, epoch.Add(-210*time.Second)
				return step
			}
			if step.Status = view.StepDone; step.Skip.String() != "" {
				step.Status = view.StepSkip
			}
		}
	}
	return nil // all of them
}

func keepOrBack(s *view.Snapshot) {
	until(s, "network")
	s.State = view.InQuestion
	s.Question = &view.Question{Step: "network", Until: epoch.Add(2 * time.Minute), Question: steps.Question{
		ID: "keep-network", Text: message.T("Gateway: Nothing answers at 198.51.100.99. Keep the new network settings?"),
		Detail:  message.T("Keeping them goes on with the new address. Putting them back returns to the old one, and you can fix your answers."),
		Choices: []steps.Choice{{Value: "keep", Label: message.T("Keep the new settings")}, {Value: "back", Label: message.T("Put the old ones back")}, {Value: "edit", Label: message.T("Put the old ones back and fix the answers")}},
		Default: "back",
	}}
}

func relocating(s *view.Snapshot) {
	step := until(s, "rollouts")
	step.Progress = &progress.Progress{Done: 21, Total: 34, Unit: "operators", Waiting: message.T("operator authentication"), Usual: 300}
	step.Said = []message.Text{message.T("kube-apiserver runs revision 8.")}
	s.Worked, s.Left = (7 * time.Minute).Seconds(), (6 * time.Minute).Seconds()
}

func landedWell(s *view.Snapshot) {
	seeHardware(s)
	until(s, "")
	s.State, s.Current, s.Life, s.Cluster, s.Ended = view.IsDone, "", "landed", "store0042.retail.example.com", epoch.Add(6*time.Minute)
	s.Worked = (12 * time.Minute).Seconds()
	at(s, "health").Checks = wellChecks()
}

func seeding(s *view.Snapshot) {
	s.Stages, s.List = shown(steps.Factory(site.New(), steps.Wiring{}), site.New()), view.ListFactory
	seeHardware(s)
	step := until(s, "images")
	s.Life = "factory"
	step.Progress = &progress.Progress{Done: 11253, Total: 18024, Unit: "MiB", Waiting: message.T("the copy of the layers")}
}

func wellChecks() []check.Check {
	return []check.Check{
		seen("pass", "OpenShift release (ClusterVersion)", "4.18.21"),
		seen("pass", "Platform services (ClusterOperators)", "34 services, all well"),
		seen("pass", "Node works (Ready)", "sno-factory ready"), seen("pass", "Cluster database (etcd)", "well"),
		seen("pass", "Programs of the cluster (pods)", "213 pods, all well"),
		seen("pass", "Web console answers", "answers 200"), seen("pass", "Login page answers (OAuth)", "answers 200"),
	}
}
