package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/vincent-petithory/dataurl"
)

// ignition is what a rendered MachineConfig lays on a node.
type ignition struct {
	Storage struct {
		Files []struct {
			Path     string
			Mode     int
			Contents struct{ Source, Compression string }
		}
	}
	Systemd struct {
		Units []struct {
			Name, Contents string
			Enabled, Mask  *bool
			Dropins        []struct{ Name, Contents string }
		}
	}
	Passwd struct {
		Users []struct {
			Name              string
			SSHAuthorizedKeys []string
		}
	}
}

// lays lists everything by its name; what is left out says nothing.
func (i ignition) lays(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, f := range i.Storage.Files {
		content, err := dataurl.DecodeString(f.Contents.Source)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		all["file "+f.Path] = fmt.Sprintf("%o %s %q", f.Mode, f.Contents.Compression, content.Data)
	}
	for _, u := range i.Systemd.Units {
		text := func(b *bool) string { s, _ := json.Marshal(b); return string(s) }
		all["unit "+u.Name] = fmt.Sprintf("enabled %s, masked %s, %q", text(u.Enabled), text(u.Mask), u.Contents)
		for _, d := range u.Dropins {
			all["drop-in "+u.Name+"/"+d.Name] = d.Contents
		}
	}
	for _, u := range i.Passwd.Users {
		all["user "+u.Name] = fmt.Sprint(slices.Sorted(slices.Values(u.SSHAuthorizedKeys)))
	}
	return all
}

// TestTheBenchRendersAlike: of the MachineConfigs that Touchdown makes, alone and over each other, the bench's stand-in makes what the
// Machine Config Operator's own code makes.
func TestTheBenchRendersAlike(t *testing.T) {
	var questions []question
	for _, addresses := range installed {
		baked := bakedAt(t, addresses)
		questions = append(questions, question{Want: baked})
		for _, ch := range changes { // the site's, over those of the bake
			questions = append(questions, question{Want: append(slices.Clone(baked), asked(ch, nil).Want...)})
		}
	}
	for _, ch := range changes { // of two that say something about the same, by name
		first, second := asked(ch, nil).Have, asked(ch, nil).Want
		first[0].Name, second[0].Name = "99-master-a", "99-master-b"
		questions = append(questions, question{Want: slices.Concat(first, second)}, question{Want: slices.Concat(second, first)})
	}
	bench := ask[ignition](t, questions, "bench-cluster", "controlplane", "render")
	for i, a := range decide(t, questions) {
		if a.Error != "" {
			t.Fatalf("question %d: the operator refuses it: %s", i, a.Error)
		}
		want, got := a.Rendered.lays(t), bench[i].lays(t)
		delete(got, "file /var/lib/kubelet/config.json") // of the pull secret, which a template brings
		if _, asked := want["file /var/lib/kubelet/config.json"]; asked {
			got = bench[i].lays(t)
		}
		if len(want) == 0 {
			t.Fatalf("question %d: the operator lays nothing", i)
		}
		for what, text := range want {
			if got[what] != text {
				t.Errorf("question %d, %s: the operator %s, the bench %s", i, what, text, got[what])
			}
		}
		for what := range got {
			if _, known := want[what]; !known {
				t.Errorf("question %d, %s: the bench alone lays it", i, what)
			}
		}
	}
}
