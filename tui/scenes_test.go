package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
	"touchdown/backend/progress"
	"touchdown/steps"
	"touchdown/steps/event"
	"touchdown/steps/site"
	"touchdown/steps/view"
)

// askedFor is a step of the site's list with the fields at some paths, before anything was typed.
func askedFor(id string, paths ...string) view.Step {
	list := collected(site.New())
	step := *at(&list, id)
	step.Status, step.Fields = "", slices.DeleteFunc(step.Fields, func(f view.Field) bool { return !slices.Contains(paths, f.Path) })
	if len(step.Fields) != len(paths) {
		panic(fmt.Sprintf("the step %s does not ask for all of %q", id, paths))
	}
	return step
}

// collectingSnapshot is a short list of the site's steps and fields, to press keys in. TestShortList holds it to the real one.
func collectingSnapshot() view.Snapshot {
	verdict := func(id, title, status, observed, expected, fix string) check.Check {
		c := check.Check{ID: id, Title: message.Data(title), Observed: message.Data(observed), Expected: message.Data(expected), Fix: message.Data(fix)}
		c.Status = map[string]check.Check{"pass": {Status: "pass"}, "warn": {Status: "warn"}, "fail": {Status: "fail"}, "skip": {Status: "skip"}}[status].Status
		c.Source = message.Data("Red Hat, minimum for one node")
		return c
	}
	s := view.Snapshot{
		Seq: 7, Version: "1.0", Hostname: "sno-042.factory.example", Serial: "7XK2Q13", Life: "armed",
		State: view.Collecting, Now: epoch,
		Stages: []view.Stage{
			{ID: "hardware", Title: message.T("Hardware check"), Steps: []view.Step{{
				ID: "hardware", Title: message.T("Check the hardware"), Checks: []check.Check{
					verdict("hw-cpu", "Processors", "pass", "16 threads", "at least 8", ""),
					verdict("hw-memory", "Memory", "pass", "64 GiB", "at least 16 GiB", ""),
					verdict("hw-disk", "Disk for the system", "pass", "960 GB, NVMe", "at least 120 GB", ""),
					verdict("hw-nic", "Network cable", "pass", "2 of 2 with a cable", "at least 1", ""),
					verdict("hw-clock", "Clock", "warn", "no time server answers", "one that answers",
						"Connect the site's time server, or set the clock in the firmware."),
					verdict("hw-tpm", "Security chip", "skip", "there is none", "", ""),
				},
			}}},
			{ID: "site", Title: message.T("Names and credentials"), Steps: []view.Step{
				askedFor("names", "spec.clusterName", "spec.baseDomain"),
				askedFor("credentials", "spec.pullSecret", "spec.apiCert.cert"),
			}},
			{ID: "network", Title: message.T("Network"), Steps: []view.Step{askedFor("network-settings", "spec.network.interface", "spec.network.ipv4.method")}},
			{ID: "relocation", Title: message.T("Relocation"), Steps: []view.Step{
				{ID: "pull-secret", Title: message.T("Add the site's registry credentials"), Status: view.Pending, Skip: message.T("the site brings none")},
				{ID: "domain", Title: message.T("Move the cluster's names"), Status: view.Pending, Undo: true},
				{ID: "rollouts", Title: message.T("Wait until the new names are served"), Status: view.Pending},
			}},
			{ID: "health", Title: message.T("Cluster health"), Steps: []view.Step{{ID: "health", Title: message.T("Verify the cluster's health"), Status: view.Pending}}},
			{ID: "hand-over", Title: message.T("Hand-over"), Steps: []view.Step{{ID: "hand-over", Title: message.T("Write the hand-over report"), Status: view.Pending}}},
		},
	}
	name := &at(&s, "names").Fields[0]
	name.Value, name.Found, name.Source = "sno-042", "sno-042", "found"
	at(&s, "names").Checks = []check.Check{verdict("names-now", "What the cluster is called now", "pass", "factory.example", "", "")}
	port, method := &at(&s, "network-settings").Fields[0], &at(&s, "network-settings").Fields[1]
	port.Value, port.Found, port.Source = "eno1", "eno1", "found"
	port.Choices = []steps.Choice{{Value: "eno1", Label: message.T("eno1, 10 Gbit/s, link")}, {Value: "eno2", Label: message.T("eno2, no link")}}
	method.Value, method.Source = "dhcp", "default"
	return s
}

// realSite is the whole list of a site with the answers of a technician.
func realSite(s *view.Snapshot) {
	checks := s.Stages[0].Steps[0].Checks
	*s = collected(typedIn(append(slices.Clone(network), names...)))
	at(s, "hardware").Checks = checks
	for i := range at(s, "network-settings").Fields {
		if f := &at(s, "network-settings").Fields[i]; f.Value != "" {
			f.Found, f.Source, f.Changed = f.Value, "current", false
		}
	}
	offerPorts(s)
	name := &at(s, "names").Fields[0]
	name.Value, name.Found, name.Source, name.Changed = "sno-042", "sno-042", "found", false
	domain := &at(s, "names").Fields[1]
	domain.Value, domain.Source, domain.Changed = "", "", false
}

// realFactory is the whole list of the bench line.
func realFactory(s *view.Snapshot) {
	realSite(s)
	checks := at(s, "hardware").Checks
	s.List, s.Life, s.Stages = view.ListFactory, "factory", shown(steps.Factory(site.New(), steps.Wiring{}), site.New())
	at(s, "hardware").Checks = checks
}

// TestShortList: what the short list asks and does is what the site's list asks and does, with its words.
func TestShortList(t *testing.T) {
	short, real := collectingSnapshot(), collectingSnapshot()
	realSite(&real)
	fields := map[string]view.Field{}
	for _, stage := range real.Stages {
		for _, f := range stageFields(stage) {
			fields[f.Path] = f
		}
	}
	for _, stage := range short.Stages {
		for _, step := range stage.Steps {
			if there := at(&real, step.ID); there.Title != step.Title {
				t.Errorf("step %s is %q, in the list %q", step.ID, step.Title, there.Title)
			}
		}
		for _, f := range stageFields(stage) {
			if there := fields[f.Path]; there.Kind != f.Kind || there.Label != f.Label {
				t.Errorf("field %s is %s %q, in the list %s %q", f.Path, f.Kind, f.Label, there.Kind, there.Label)
			}
		}
	}
}

// TestScenesAreOfTheLists: no scene has a step or a field that the lists of steps have not, nor a step with a field of another one.
func TestScenesAreOfTheLists(t *testing.T) {
	asked, known := map[string][]string{}, site.New().Paths()
	for _, list := range [][]view.Stage{shown(steps.Site(site.New(), steps.Wiring{}), site.New()), shown(steps.Factory(site.New(), steps.Wiring{}), site.New())} {
		for _, stage := range list {
			for _, step := range stage.Steps {
				asked[step.ID] = append(asked[step.ID], "")
				for _, f := range step.Fields {
					asked[step.ID] = append(asked[step.ID], f.Path)
				}
			}
		}
	}
	for _, s := range append(append(scenes(), pictures()...), scene{name: "short list"}) {
		snap := collectingSnapshot()
		for _, edit := range s.edits {
			edit(&snap)
		}
		for _, stage := range snap.Stages {
			for _, step := range stage.Steps {
				if asked[step.ID] == nil {
					t.Errorf("%s: there is no step %s", s.name, step.ID)
				}
				for _, f := range step.Fields {
					if !slices.Contains(asked[step.ID], f.Path) || f.Repeats == "" && !slices.Contains(known, f.Path) {
						t.Errorf("%s: the step %s asks for no %s", s.name, step.ID, f.Path)
					}
				}
			}
		}
	}
}

// stageFields are all fields of a stage, asked for or not.
func stageFields(stage view.Stage) []view.Field {
	var all []view.Field
	for _, step := range stage.Steps {
		all = append(all, step.Fields...)
	}
	return all
}

func reviewView() *view.Review {
	return &view.Review{
		Fingerprint: "f00d", Seconds: 420,
		Warnings: []message.Text{message.T("Clock: no time server answers.")},
		Steps: []view.StepPlan{
			{Step: "pull-secret", Title: message.T("Add the site's registry credentials"), Skip: message.T("the site brings none")},
			{Step: "domain", Title: message.T("Move the cluster's names"), Plan: steps.Plan{
				Changes: []steps.Change{
					{What: message.T("API"), Old: message.T("api.factory.example"), New: message.T("api.store0042.example.com")},
					{What: message.T("Applications"), Old: message.T("*.apps.factory.example"), New: message.T("*.apps.store0042.example.com")},
					{What: message.T("Certificate"), New: message.T("for api.store0042.example.com, made by the cluster")},
				},
				Disturbances: []steps.Disturbance{{What: message.T("API outage"), Cause: message.T("kube-apiserver restarts"), Seconds: 240}},
				Permanent:    []message.Text{message.T("Logins made before the move end.")},
			}},
			{Step: "rollouts", Title: message.T("Wait until the new names are served")},
		},
	}
}

// working puts s in the middle of the work, three and a half minutes in.
func working(s *view.Snapshot) {
	s.State, s.Current, s.Life, s.Started = view.Working, "rollouts", "landing", epoch.Add(-5*time.Minute)
	s.Worked, s.Left = 300, 350
	s.Review, s.Problem, s.Question = nil, nil, nil
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			switch step := &s.Stages[i].Steps[j]; {
			case step.ID == s.Current:
				step.Status, step.Started = view.Running, epoch.Add(-210*time.Second)
				step.Progress = &progress.Progress{Done: 21, Total: 33, Unit: "operators", Waiting: message.T("operator authentication"), Usual: 300}
				step.Said = []message.Text{message.T("Wrote the new names."), message.T("kube-apiserver runs revision 9."), message.T("12 operators have taken the new names.")}
				return
			case step.Skip.String() != "":
				step.Status = view.StepSkip
			default:
				step.Status, step.Seconds = view.StepDone, 24
			}
		}
	}
}

// lost is an engine whose records were damaged while the job was at work.
func lost(s *view.Snapshot) {
	failed(s)
	what := message.F("%s; what was found is kept as %s", message.F("%d of the journal's records cannot be read", 2), "journal.jsonl.damaged")
	s.Notices = []message.Text{message.F("Records were lost: %s", what)}
	s.Problem = &event.Trouble{
		Code: view.RecordsLost, Summary: message.T("Records of this job were damaged or lost, so it does not continue automatically."),
		Fix: message.T("Continue from what the machine shows, edit the answers to start over, or undo."), Detail: what,
	}
}

func failed(s *view.Snapshot) {
	working(s)
	s.State = view.HasFailed
	s.Problem = &event.Trouble{
		Code: "RLT-DNS", Summary: message.T("The operator authentication cannot reach its own address."),
		Fix:    message.T("Ask the site for the DNS record *.apps.store0042.example.com, then retry."),
		Detail: message.Verbatim("waiting for operator authentication: OAuthServerRouteEndpointAccessible: no such host"),
		Output: []string{"lookup oauth-openshift.apps.store0042.example.com: no such host"},
	}
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			if step := &s.Stages[i].Steps[j]; step.ID == "rollouts" {
				step.Status = view.StepFailed
				step.Checks = []check.Check{{ID: "name-oauth", Title: message.T("Login page answers"), Status: "fail", Observed: message.T("no such host")}}
			}
		}
	}
}

func asking(s *view.Snapshot) {
	working(s)
	s.State = view.InQuestion
	s.Question = &view.Question{Step: "rollouts", Until: epoch.Add(95 * time.Second), Question: steps.Question{
		ID: "keep-network", Text: message.T("Two of five network probes failed. Keep the new network settings?"),
		Detail:  message.T("Keeping them goes on with the new address. Putting them back returns to the review."),
		Choices: []steps.Choice{{Value: "keep", Label: message.T("Keep the new settings")}, {Value: "back", Label: message.T("Put the old ones back")}, {Value: "edit", Label: message.T("Put the old ones back and fix the answers")}},
		Default: "back",
	}}
}

func finished(s *view.Snapshot) {
	working(s)
	s.State, s.Current, s.Life, s.Cluster, s.Ended = view.IsDone, "", "landed", "store0042.example.com", epoch.Add(40*time.Minute)
	s.Worked = (17 * time.Minute).Seconds()
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			step := &s.Stages[i].Steps[j]
			if step.Status != view.StepSkip {
				step.Status = view.StepDone
			}
			if step.ID == "hand-over" {
				step.Checks = []check.Check{{ID: check.SiteAddress, Title: message.T("The node's address at this site"), Status: "pass", Observed: message.T("198.51.100.10")}}
			}
			if step.ID == "health" {
				step.Checks = []check.Check{
					{ID: "operators", Title: message.T("Operators"), Status: "pass", Observed: message.T("33 of 33 well")},
					{ID: "nodes", Title: message.T("Node"), Status: "pass", Observed: message.T("Ready")},
				}
			}
		}
	}
	s.Met = []message.Text{message.T("rollouts: RLT-DNS the operator authentication cannot reach its own address")}
}

// undoing has put the operators back, and is at the names.
func undoing(s *view.Snapshot) {
	working(s)
	s.State, s.Life, s.Current = view.UndoingAll, "returning", "domain"
	forgetWay(s)
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			switch step := &s.Stages[i].Steps[j]; step.ID {
			case "network":
				step.Undo = true
			case "domain":
				step.Undo, step.Status, step.Started = true, view.Running, epoch.Add(-10*time.Second)
				step.Progress = &progress.Progress{Waiting: message.T("the operators to take the old names")}
			case "rollouts":
				step.Undo, step.Status, step.Progress = true, view.StepUndone, nil
			}
		}
	}
}

func undone(s *view.Snapshot) {
	finished(s)
	s.State, s.Life = view.IsUndone, "returned"
	s.Met = nil
	forgetWay(s)
}

// stands has work before the review that was not put back.
func stands(s *view.Snapshot) { s.Touched = true }

// renamed has the host name among what an undo leaves.
func renamed(s *view.Snapshot) {
	s.Permanent = []message.Text{
		message.T("The node keeps its new name when everything else is undone."),
		message.T("What names the node itself keeps the old name: local volumes (LVMS, LSO), performance profiles, SR-IOV node states."),
	}
}

// forgetWay drops what an undo drops: what the work noted and saw.
func forgetWay(s *view.Snapshot) {
	for i := range s.Stages {
		for j := range s.Stages[i].Steps {
			step := &s.Stages[i].Steps[j]
			step.Said, step.Checks = nil, nil
		}
	}
}
