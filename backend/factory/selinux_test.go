package factory_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
)

// policy is the part of SELinux's policy in testdata/selinux.txt.
type policy struct {
	labels  [][2]string     // pattern and type, the more specific pattern later
	allowed map[string]bool // "execute DOMAIN TYPE"
}

func readPolicy(t *testing.T) policy {
	t.Helper()
	text, err := os.ReadFile("testdata/selinux.txt")
	if err != nil {
		t.Fatal(err)
	}
	p := policy{allowed: map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case len(words) < 4:
			t.Fatalf("a rule without its source: %q", line)
		case words[0] == "label":
			p.labels = append(p.labels, [2]string{words[1], words[2]})
		default:
			p.allowed[strings.Join(words[:3], " ")] = true
		}
	}
	return p
}

// label is the type that a file has by its path, "" where no rule is known.
func (p policy) label(file string) string {
	for _, l := range slices.Backward(p.labels) {
		if regexp.MustCompile("^(?:" + l[0] + ")$").MatchString(file) {
			return l[1]
		}
	}
	return ""
}

// refuses says why a domain may not execute or read a file, "" when it may.
func (p policy) refuses(verb, domain, file string) string {
	label := p.label(file)
	if p.allowed[strings.Join([]string{verb, domain, label}, " ")] {
		return ""
	}
	return domain + " may not " + verb + " " + file + ", whose label is " + label
}

// refusals are the files that a file of the bake makes systemd or NetworkManager run against the policy. all are the
// paths of the bake, by which a script's calls are found.
func (p policy) refusals(f factory.File, all []string) []string {
	var out []string
	add := func(verb, domain, file string) {
		if why := p.refuses(verb, domain, file); why != "" {
			out = append(out, f.Path+": "+why)
		}
	}
	if strings.HasPrefix(f.Path, "/etc/systemd/system/") {
		for key, values := range parseUnit(string(f.Data)) {
			for _, value := range values {
				words := strings.Fields(strings.TrimLeft(value, "@-:+!|"))
				switch {
				case len(words) == 0:
				case strings.HasPrefix(key, "Service.Exec"):
					add("execute", "init_t", words[0])
				case key == "Service.EnvironmentFile":
					add("read", "init_t", words[0])
				}
			}
		}
	}
	if !strings.HasPrefix(string(f.Data), "#!") {
		return out
	}
	domain := "unconfined_service_t"
	if strings.HasPrefix(f.Path, "/etc/NetworkManager/dispatcher.d/") {
		domain = "NetworkManager_dispatcher_custom_t"
	}
	interpreter, body, _ := strings.Cut(strings.TrimPrefix(string(f.Data), "#!"), "\n")
	add("execute", domain, strings.Fields(interpreter)[0])
	for line := range strings.Lines(body) {
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'", r) }) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && slices.Contains(all, word) {
				add("execute", domain, word)
			}
		}
	}
	return out
}

// TestSELinuxLetsTheUnitsRun: every program that a unit or a script of the bake runs has a label that may be run from
// there. The bench has no SELinux; on a node a unit that it refuses fails with 203/EXEC, and kubelet with it.
func TestSELinuxLetsTheUnitsRun(t *testing.T) {
	manifests, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	var files []factory.File
	var programs []string
	for _, m := range manifests {
		for _, f := range m.Files {
			files = append(files, f)
			if f.Mode&0o111 != 0 {
				programs = append(programs, f.Path)
			}
		}
	}
	p := readPolicy(t)
	for _, f := range files {
		for _, why := range p.refusals(f, programs) {
			t.Error(why)
		}
		if folder := path.Dir(f.Path); folder == "/usr/local/bin" && p.label(f.Path) != p.label("/var/usrlocal/bin/"+path.Base(f.Path)) {
			t.Errorf("%s has another label than the file that it is on RHCOS", f.Path)
		}
	}
}

// TestSELinuxRefusals: what the test above exists for is found.
func TestSELinuxRefusals(t *testing.T) {
	const script = "/etc/NetworkManager/dispatcher.d/20-ours"
	p, unit := readPolicy(t), "/etc/systemd/system/ours.service"
	for name, c := range map[string]struct {
		path, text string
		refused    bool
	}{
		"a dispatcher script as a program": {unit, "[Service]\nExecStart=-" + script + " br-ex up\n", true},
		"the same in a drop-in":            {unit + ".d/10.conf", "[Service]\nExecStopPost=+" + script + "\n", true},
		"run by a script":                  {"/usr/local/bin/ours", "#!/bin/bash\n" + script + " br-ex up\n", true},
		"a program below /etc":             {unit, "[Service]\nExecStart=/etc/ours\n", true},
		"a path without a rule":            {unit, "[Service]\nExecStart=/var/lib/touchdown/ours\n", true},
		"an EnvironmentFile elsewhere":     {unit, "[Service]\nEnvironmentFile=-/etc/NetworkManager/ours\n", true},
		"run by the shell":                 {unit, "[Service]\nExecStart=/bin/bash " + script + "\n", false},
		"a program in its place":           {unit, "[Service]\nExecStart=\nExecStart=+-/usr/local/bin/ours\n", false},
		"named in a comment":               {"/usr/local/bin/ours", "#!/bin/bash\n# see " + script + "\n", false},
	} {
		got := p.refusals(factory.File{Path: c.path, Mode: 0o755, Data: []byte(c.text)}, []string{script})
		if (len(got) > 0) != c.refused {
			t.Errorf("%s: %q", name, got)
		}
	}
}
