// Package selinux holds the files of Touchdown against the SELinux policy of a node.
package selinux_test

import (
	"bufio"
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
)

var questions = flag.String("questions", "", "write what has to be asked of the policy to this file, and test nothing")

// files are what the MachineConfigs of the bake lay on a node.
func files(t *testing.T) []factory.File {
	t.Helper()
	manifests, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	var all []factory.File
	for _, m := range manifests {
		all = append(all, m.Files...)
	}
	return all
}

// use is one line of uses.txt: who does what, with what.
type use struct{ who, verb, what string }

func readUses(t *testing.T) []use {
	t.Helper()
	var all []use
	for _, words := range lines(t, "uses.txt") {
		if len(words) < 3 {
			t.Fatalf("uses.txt: %q is not a line", strings.Join(words, " "))
		}
		for _, what := range words[2:] {
			all = append(all, use{words[0], words[1], what})
		}
	}
	return all
}

// lines are the words of the lines of a file that are not comments.
func lines(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all [][]string
	for in := bufio.NewScanner(f); in.Scan(); {
		if words := strings.Fields(in.Text()); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words)
		}
	}
	return all
}

// asked are the questions for the policy: what the units of these files have systemd do, and what uses.txt says of scripts, of
// the engine and of the programs that read our files. "refused" in front is a question to which the answer has to be no.
func asked(t *testing.T, all []factory.File, uses []use) []string {
	t.Helper()
	out := unitQuestions(t, all)
	scripts := scriptsOf(all)
	for _, u := range uses {
		domains := []string{u.who}
		switch s, isScript := scripts[u.who]; {
		case isScript:
			domains = s.domains
		case u.who == "engine":
			domains = []string{"unconfined_service_t"}
		case strings.HasPrefix(u.verb, "live-"):
			continue // no node has it, see live_test.go
		case strings.HasPrefix(u.who, "/"):
			t.Errorf("uses.txt: no file of the bake is %s", u.who)
			continue
		}
		for _, d := range domains {
			if domain, refused := strings.CutPrefix(d, "refused:"); refused {
				out = append(out, "refused "+domain+" "+u.verb+" "+u.what)
				continue
			}
			if u.verb != "none" && u.verb != "names" {
				out = append(out, d+" "+u.verb+" "+u.what)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fact is what the policy says to one question.
type fact struct {
	allowed bool
	answer  string
}

func readFacts(t *testing.T) map[string]fact {
	t.Helper()
	facts := map[string]fact{}
	for _, words := range lines(t, "facts.txt") {
		if len(words) < 5 || words[0] != "yes" && words[0] != "no" {
			t.Fatalf("facts.txt: %q is not a line", strings.Join(words, " "))
		}
		facts[strings.Join(words[1:4], " ")] = fact{words[0] == "yes", strings.Join(words[4:], " ")}
	}
	return facts
}

// judge says what is wrong with a question, "" for nothing.
func judge(facts map[string]fact, question string) string {
	question, refused := strings.CutPrefix(question, "refused ")
	f, known := facts[question]
	words := strings.Fields(question)
	switch {
	case !known:
		return question + ": the policy was not asked; run make selinux-facts"
	case f.allowed == refused && refused:
		return question + ": the policy allows it, and the case proves nothing any more: " + f.answer
	case refused:
		return ""
	case !f.allowed:
		return question + ": the policy refuses it: " + f.answer
	// A program that systemd leaves in its own domain may do little of what ours do.
	case words[0] == "init_t" && strings.HasPrefix(words[1], "execute") && strings.Contains(f.answer, " in init_t"):
		return question + ": it would run in systemd's own domain: " + f.answer
	case words[0] == "init_t" && strings.HasPrefix(words[2], "/usr/local/bin/touchdown") && strings.HasPrefix(words[1], "execute") &&
		!strings.HasSuffix(f.answer, " in unconfined_service_t"):
		return question + ": our programs need unconfined_service_t: " + f.answer
	}
	return ""
}

// TestSELinuxLetsUsWork: what the units, the scripts and the engine do is allowed on a node, and whoever reads their files may
// read them with the label that they get. The bench has no SELinux; a unit that it refuses keeps kubelet from starting.
func TestSELinuxLetsUsWork(t *testing.T) {
	all, uses := files(t), readUses(t)
	asks := asked(t, all, uses)
	if *questions != "" {
		text := ""
		for _, q := range asks {
			text += strings.TrimPrefix(q, "refused ") + "\n"
		}
		if err := os.WriteFile(*questions, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	facts := readFacts(t)
	for _, q := range asks {
		if why := judge(facts, q); why != "" {
			t.Error(why)
		}
	}
	for q := range facts {
		if !slices.Contains(asks, q) && !slices.Contains(asks, "refused "+q) {
			t.Errorf("facts.txt: nobody asks any more: %s", q)
		}
	}
}

// TestWhatSELinuxRefuses: what the test above exists for is found.
func TestWhatSELinuxRefuses(t *testing.T) {
	const script, unit = "/etc/NetworkManager/dispatcher.d/20-touchdown-internal-address", "/etc/systemd/system/ours.service"
	facts := readFacts(t)
	for name, c := range map[string]struct {
		path, text string
		refused    bool
	}{
		"a dispatcher script as a program": {unit, "[Service]\nExecStart=-" + script + " br-ex up\n", true},
		"the same in a drop-in":            {unit + ".d/10.conf", "[Service]\nExecStopPost=+" + script + "\n", true},
		"a program below /etc":             {unit, "[Service]\nExecStart=/etc/ours\n", true},
		"a path without a fact":            {unit, "[Service]\nExecStart=/var/lib/touchdown/ours\n", true},
		"an EnvironmentFile elsewhere":     {unit, "[Service]\nEnvironmentFile=-/etc/NetworkManager/ours\n", true},
		"a program in its place":           {unit, "[Service]\nExecStart=\nExecStart=+-/usr/local/bin/touchdown-uplink\n", false},
	} {
		var why []string
		for _, q := range unitQuestions(t, []factory.File{{Path: c.path, Mode: 0o644, Data: []byte(c.text)}}) {
			if w := judge(facts, q); w != "" && !strings.Contains(q, "ours.service") {
				why = append(why, w)
			}
		}
		if (len(why) > 0) != c.refused {
			t.Errorf("%s: %q", name, why)
		}
	}
	if f := facts["init_t execute "+script]; f.allowed || !strings.Contains(f.answer, "NetworkManager_dispatcher_script_t:file:execute") {
		t.Errorf("systemd and a dispatcher script: %+v", f)
	}
}

// TestWhoReadsNeedsTheRightType: a file that a confined program reads is relabelled where it is made with another type. Without
// touchdown-uplink's restorecon NetworkManager could not read which ports it is to use without a link.
func TestWhoReadsNeedsTheRightType(t *testing.T) {
	facts := readFacts(t)
	for q, f := range facts {
		words := strings.Fields(q)
		maker := words[1] == "create" || words[1] == "replace"
		if !maker || !strings.Contains(f.answer, " where ") {
			continue
		}
		if !relabelled(facts, words[0], words[2]) && !slices.Contains(otherType, q) {
			t.Errorf("%s: %s, and nothing relabels it: may all who read it do so?", q, f.answer)
		}
	}
}

// relabelled tells whether the maker of a file runs restorecon for it, or for a folder above it.
func relabelled(facts map[string]fact, domain, file string) bool {
	if _, is := facts[domain+" relabel "+file]; is {
		return true
	}
	for at := path.Dir(strings.TrimSuffix(file, "/")); at != "/"; at = path.Dir(at) {
		if _, is := facts[domain+" relabel "+at+"/"]; is {
			return true
		}
	}
	return false
}

// otherType are files that have another type than restorecon would give them, which harms nobody who was asked about.
var otherType = []string{
	// systemd reads both types of unit files.
	"spc_t replace /etc/systemd/system/dnsmasq.service",
	// The policy has CRI-O make its store of this type.
	"container_runtime_t create /var/lib/containers/touchdown-rehearsal/overlay/",
	// NetworkManager reads back what it makes.
	"NetworkManager_t create /run/NetworkManager/resolv.conf",
}
