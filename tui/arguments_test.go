package tui

import (
	"go/ast"
	"go/parser"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArgumentsHaveNoWords: no argument of message.F or message.Data is an English string of the program, which no language could
// translate. It follows an argument through variables, fields, parameters and results: through all packages for what has more than
// one word; within a package for a word alone, which elsewhere is a key or a kind.
func TestArgumentsHaveNoWords(t *testing.T) {
	all := newFlow()
	all.phrases = true
	for _, root := range []string{"../backend", "../cmd", "../steps", "."} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "testdata" {
				return err
			}
			_, err = all.Import(imported(path))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	found := all.words()
	for _, list := range all.folders {
		one := newFlow()
		one.files, one.alone = all.files, true
		one.check("p", list)
		found = append(found, one.words()...)
	}
	slices.Sort(found)
	for _, f := range slices.Compact(found) {
		t.Error(f)
	}
}

// imported is what a folder of the repository, seen from this one, is imported by.
func imported(folder string) string { return path.Join("touchdown/tui", filepath.ToSlash(folder)) }

// TestWordsAreFound: what TestArgumentsHaveNoWords finds.
func TestWordsAreFound(t *testing.T) {
	for argument, want := range map[string]int{
		`"no cable"`: 1, `"%d kB"`: 0, `"crictl rmi"`: 0, `why`: 1, `s.why`: 1, `told(1)`: 2, `list`: 1, `say("it is gone")`: 1, `fmt.Sprint("of ", n)`: 1, `message.T("no cable")`: 0,
		`map[bool]string{true: "it is"}[a]`: 1, `names["a key"]`: 0, `strings.Join(all, " and ")`: 1, `"somewhere"`: 1, `"overlay"`: 0, `m.Get("a key")`: 0,
		`err.Error()`: 1, `strings.TrimSuffix(err.Error(), ".")`: 1, `gone`: 1, `message.Verbatim(err.Error())`: 0, `err`: 0, `message.Text{}.String()`: 0,
	} {
		f := newFlow()
		parsed, err := parser.ParseFile(f.files, "sample.go", `package p
			type form struct{ why string }
			func told(n int) string { if n > 0 { return "so it is" }; return "or not" }
			func say(what string) string { return what }
			func f(s form, n int) {
				s.why = "it was so"
				why := "it is " + s.name
				gone := "a" + err.Error()
				var list []string
				list = append(list, "this one")
				_ = message.F("%s", `+argument+`)
			}`, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.check("p", []*ast.File{parsed})
		if found := f.words(); len(found) != want {
			t.Errorf("%s: found %q", argument, found)
		}
	}
}

// noWords are the words that every language has as they are: names of resources, settings, keys and values of the site config, keys of an order sheet.
var noWords = strings.Fields(`
	absent address apps authentication authentications autoconf bios bond broadcast client configmaps console consoles data dhcp disabled disks downloads etcd ethernet
	gateway ignore ingress inline interfaces keep kind kubeapiservers kubecontrollermanagers machineconfigpools model modules name nics nmstate
	openshiftapiservers order overlay ports replace retail routes search secrets server sno source spec static touchdown uid vdu vlan warning`)

// others are words that no message translates where they stand, each with its reason.
var others = []string{
	// what other programs write, and places in documents
	"crictl rmi", "missing field ", "Invalid YAML string: ", // nmstate's
	"(not a URL)", "document ", "the desired state", ".(a key that is not shown)",
	"OVN join", "OVN transit", "OVN masquerade", // OVN-Kubernetes' own networks

	// words of records and JSON, which are English there; the console shows a message in their place, chosen by a switch
	"none", "unknown", "down", "off", "hub", "not supported", "persistent memory", // parts of the inventory: hardware.word
	"the node's own", "the node's internal", "cluster network", "service network", // networks: Reserved.Whose
	"static pod", "static pod ", "unit ", "script ", "pause image of CRI-O", "pause image of CRI-O as it runs", "release payload", // who needs an image: wanted.Named
	"file ", "stick ", "typed twice", "in the node", // where an answer comes from: the console's sourceText
	"key", "saved", // names of files that step/engine's loss.text has a sentence for

	// names of Kubernetes objects
	"default", "ClusterVersion version", "MachineConfig ",

	// parts of documents in English: the verdict of a report, the end of a command's output
	": a check failed", ", with warnings", ", %d waived", "... and %d more lines",
}

// inEnglish are files whose texts are written onto media for people at other computers, in English as reports are.
var inEnglish = regexp.MustCompile(`steps/engine/(leave|overwritten)\.go`)

// sentenceWord is a string with a word beside a blank, or one that is a word alone.
var sentenceWord = regexp.MustCompile(` [a-z]{2,}|[a-z]{2,} |^[a-z]{3,}$`)

// unitVerb is a verb of a format with the unitVerb of its number.
var unitVerb = regexp.MustCompile(`%[.0-9]*[a-zA-Z] ?(kB|MB|GB|KiB|MiB|GiB|ms|s|min|h|C|%%)?( |$)`)

func isEnglish(text string, phrases bool) bool {
	pattern := sentenceWord
	if phrases {
		pattern = englishData
	}
	return !slices.Contains(noWords, text) && !slices.Contains(others, text) && pattern.MatchString(unitVerb.ReplaceAllString(text, ""))
}
