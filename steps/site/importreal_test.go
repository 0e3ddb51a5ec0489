package site

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"
)

// archive is a file of documents of another project.
type archive struct {
	file string
	docs []txtar.File
}

// realDocuments are the documents of other projects in testdata/imports.
func realDocuments(t *testing.T) []archive {
	t.Helper()
	files, err := filepath.Glob("testdata/imports/*.txtar") // sorted
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	archives := make([]archive, len(files))
	for i, file := range files {
		content, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = archive{file, content.Files}
	}
	return archives
}

// chosen are the nodes that are taken of documents with several, which are refused without a choice.
var chosen = map[string]string{
	"ztp/tools/siteconfig-converter/samples/comprehensive-siteconfig.yaml": "master-1.example.com",
	"ztp/tools/siteconfig-converter/samples/test-mno-siteconfig.yaml":      "worker1.obfuscated-domain.com",
	"ztp/tools/siteconfig-converter/convert_test.go#2":                     "node2.example.com",
	"config/samples/assisted-installer/example-3node.yaml":                 "example-node2.example.com",
	"config/samples/assisted-installer/example-standard.yaml":              "nobody",
	"cmd/openshift-install/testdata/agent/image/configurations/baremetal_host_bmc_config.txt#install-config.yaml@3e81c8677997715c02b439744505b1fb6c88db19": "master-1",
}

// TestImportRealDocuments keeps what becomes of documents of other projects: the site config, what a person still has to add, and
// what was left out; or why a document is refused.
func TestImportRealDocuments(t *testing.T) {
	count := 0
	for _, archive := range realDocuments(t) {
		var b strings.Builder
		for _, doc := range archive.docs {
			count++
			outcome(t, &b, doc, ImportChoice{})
			if node := chosen[doc.Name]; node != "" {
				outcome(t, &b, doc, ImportChoice{Node: node})
			}
		}
		golden(t, strings.TrimSuffix(archive.file, "txtar")+"golden", b.String())
	}
	if count < 60 {
		t.Errorf("%d documents, fewer than the 60 that are wanted", count)
	}
}

func outcome(t *testing.T, b *strings.Builder, doc txtar.File, choice ImportChoice) {
	t.Helper()
	fmt.Fprintf(b, "== %s %s\n", doc.Name, choice.Node)
	config, notes, err := Import(doc.Data, "doc", choice)
	if err != nil {
		b.WriteString(err.Error() + "\n")
		return
	}
	fmt.Fprintf(b, "%s\n", strings.Join(notes, "\n"))
	everyLeafIsTold(t, doc.Name, doc.Data, notes)
	for _, path := range config.Paths() {
		if config.Sources[path] != "file doc" {
			continue
		}
		value, _ := config.Get(path)
		if config.IsSecret(path) {
			value = Redacted
		}
		fmt.Fprintf(b, "%s: %s\n", path, strings.ReplaceAll(strings.TrimRight(value, "\n"), "\n", "\n    "))
	}
	if errs, _ := config.Validate(time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)); len(errs) > 0 {
		fmt.Fprintf(b, "to add or fix:\n%v\n", errs)
	}
}

// everyLeafIsTold wants a note for each value of each document: that it was taken, or why it, or a group that it is in, was left out.
func everyLeafIsTold(t *testing.T, name string, data []byte, notes []string) {
	t.Helper()
	docs, bad := documents(data, name)
	if bad != nil {
		t.Fatal(bad)
	}
	for i, doc := range docs {
		root := spot{node: doc}
		if len(docs) > 1 && shapeOf(doc).from == "" {
			root.path = fmt.Sprintf("document %d", i+1)
		}
		for _, leaf := range leaves(root) {
			if !slices.ContainsFunc(notes, func(note string) bool { return tells(note, leaf) }) {
				t.Errorf("%s: no word about %s in\n%s", name, leaf, strings.Join(notes, "\n"))
			}
		}
	}
}

// header are values that say what a document is, and which Secret a reference means.
var header = regexp.MustCompile(`^(document \d+\.)?(apiVersion|kind)$|^api_version$|^document \d+\.(metadata\.name|metadata\.namespace|type)$`)

// leaves returns the paths of all values without children, but those of the header.
func leaves(s spot) []string {
	if header.MatchString(s.path) {
		return nil
	}
	if s.node.Kind == yaml.ScalarNode || len(s.node.Content) == 0 {
		return []string{s.path}
	}
	var paths []string
	for _, value := range s.children() {
		paths = append(paths, leaves(value)...)
	}
	return paths
}

// children returns the values of a group, or the items of a list.
func (s spot) children() []spot {
	if s.node.Kind != yaml.MappingNode {
		return s.items()
	}
	var values []spot
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		values = append(values, spot{s.node.Content[i+1], s.below(s.node.Content[i].Value)})
	}
	return values
}

// told is what a note says about the path that it begins with.
var told = regexp.MustCompile(` is (left out: |now |taken from ).*`)

// tells reports whether a note is about a path, or about a group or list that it is in.
func tells(note, path string) bool {
	about := told.ReplaceAllString(note, "")
	if about == "the desired state" {
		return slices.Contains(nmstateKeys, strings.SplitN(strings.SplitN(path, ".", 2)[0], "[", 2)[0])
	}
	if strings.HasPrefix(about, path+".") { // a text that is a document itself
		return true
	}
	if !strings.HasPrefix(path, about) {
		return false
	}
	rest := path[len(about):]
	return rest == "" || rest[0] == '.' || rest[0] == '['
}

// TestImportTellsEveryKey puts unknown keys into the real documents, at any depth: each is in the site config, as part of a
// network that is taken in its own words, or has its note.
func TestImportTellsEveryKey(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 6))
	tried := 0
	for _, archive := range realDocuments(t) {
		for _, doc := range archive.docs {
			if _, _, err := Import(doc.Data, "doc", ImportChoice{}); err != nil {
				continue
			}
			for range 5 {
				data, where := withUnknownKeys(t, random, doc.Data)
				config, notes, err := Import(data, "doc", ImportChoice{})
				if err != nil {
					continue // a key inside of a network or a mirror may be one that is refused
				}
				tried++
				for _, key := range where {
					found := slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, " is left out: ") && tells(note, key.path) })
					found = found || config.Spec.NodeLabels[lastPart(key.path)] == "x" // a label may have any name
					if !found && !strings.Contains(string(config.Spec.NetworkConfig), lastPart(key.path)+": ") {
						t.Fatalf("%s: no word about %s of %s in\n%s", archive.file, key.path, data, strings.Join(notes, "\n"))
					}
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d documents with unknown keys could be imported", tried)
	}
}

// withUnknownKeys adds keys to groups of a document, and returns where they are.
func withUnknownKeys(t *testing.T, random *rand.Rand, data []byte) ([]byte, []spot) {
	t.Helper()
	docs, bad := documents(data, "doc")
	if bad != nil {
		t.Fatal(bad)
	}
	var added []spot
	var text strings.Builder
	for i, doc := range docs {
		root := spot{node: doc}
		if len(docs) > 1 && shapeOf(doc).from == "" {
			root.path = fmt.Sprintf("document %d", i+1)
		}
		groups := groupsBelow(root)
		for n := range 3 {
			group := groups[random.IntN(len(groups))]
			key := "unknown-" + string(rune('a'+i%26)) + string(rune('a'+n))
			group.node.Content = append(group.node.Content, scalarNode(key, "!!str"), scalarNode("x", "!!str"))
			added = append(added, spot{group.node.Content[len(group.node.Content)-1], join(group.path, key)})
		}
		part, err := encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(part))
	}
	return []byte(text.String()), added
}

func groupsBelow(s spot) []spot {
	var found []spot
	if s.node.Kind == yaml.MappingNode {
		found = append(found, s)
	}
	for _, value := range s.children() {
		found = append(found, groupsBelow(value)...)
	}
	return found
}
