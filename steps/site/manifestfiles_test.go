package site

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// crds and agent are two files as a hub gives them: the kinds, and what uses them.
const (
	crds  = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: agents.hub.example.com}\n"
	agent = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: hub}\n---\napiVersion: hub.example.com/v1\nkind: Agent\nmetadata: {name: a}"
)

func naming(files string) []byte {
	return []byte(head + "spec: {clusterName: a, baseDomain: b.c, manifestsFile: " + files + "}\n")
}

// TestManifestFiles: several files, and the files of a folder, become one spec.manifests in their order, and the order decides.
func TestManifestFiles(t *testing.T) {
	files := fstest.MapFS{
		"crds.yaml": {Data: []byte("\ufeff" + crds)}, "import.yaml": {Data: []byte(strings.ReplaceAll(agent, "\n", "\r\n"))},
		"hub/10-crds.yml": {Data: []byte(crds)}, "hub/20-import.YAML": {Data: []byte(agent)}, "hub/._10-crds.yml": {Data: []byte("\x00")},
		"hub/README.txt": {Data: []byte("of the hub")}, "hub/more/other.yaml": {Data: []byte("no")},
		"ends.yaml":  {Data: []byte("%YAML 1.1\n---\n" + strings.TrimPrefix(agent, "---\n") + "\n...\n")},
		"ends2.yaml": {Data: []byte("%YAML 1.1\n---\n" + crds)},
		"one.json":   {Data: []byte(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "one"}}`)},
	}
	for named, want := range map[string]struct{ kinds, source string }{
		"import.yaml":              {"Namespace Agent", "file import.yaml"},
		"[crds.yaml, import.yaml]": {"CustomResourceDefinition Namespace Agent", "file crds.yaml, import.yaml"},
		"[import.yaml, crds.yaml]": {"Namespace Agent CustomResourceDefinition", "file import.yaml, crds.yaml"},
		"hub":                      {"CustomResourceDefinition Namespace Agent", "file hub"},
		"[one.json, hub/]":         {"Namespace CustomResourceDefinition Namespace Agent", "file one.json, hub/"},
		"[ends.yaml, ends2.yaml]":  {"Namespace Agent CustomResourceDefinition", "file ends.yaml, ends2.yaml"},
		"''":                       {"", ""},
		"[]":                       {"", ""},
	} {
		c, err := Parse(naming(named), "site.yaml", files)
		if err != nil {
			t.Errorf("%s: %v", named, err)
			continue
		}
		all, err := c.Spec.Objects()
		var kinds []string
		for _, m := range all {
			kinds = append(kinds, m.Kind())
		}
		if got := strings.Join(kinds, " "); err != nil || got != want.kinds || c.Sources[pathManifests] != want.source {
			t.Errorf("%s: %q from %q, %v", named, got, c.Sources[pathManifests], err)
		}
	}
}

// TestWrongManifestFiles: an error names the file and the line, the limits are those of all files together, and nothing leads out.
func TestWrongManifestFiles(t *testing.T) {
	files := fstest.MapFS{
		"crds.yaml": {Data: []byte(crds)}, "again.yaml": {Data: []byte("# the same\n" + crds)}, "empty.yaml": {Data: []byte("\n")},
		"reboot.yaml": {Data: []byte("---\n---\napiVersion: tuned.openshift.io/v1\nkind: Tuned\nmetadata: {name: a, namespace: b}\n")},
		"broken.yaml": {Data: []byte("apiVersion: v1\nkind: [\n")}, "binary.yaml": {Data: []byte("a: b\n\x00")},
		"comments.yaml": {Data: []byte("# nothing\n")}, "hub/a.txt": {Data: []byte("no")},
		"half.yaml": {Data: []byte(many(mostManifests/2 + 1))}, "half2.yaml": {Data: []byte(strings.ReplaceAll(many(mostManifests/2), "name: a", "name: b"))},
		"large.yaml":  {Data: []byte("# " + strings.Repeat("x", maxManifests-200) + "\n" + crds)},
		"large2.yaml": {Data: []byte("# " + strings.Repeat("x", 300) + "\n" + agent)},
	}
	for _, name := range []string{"site.yaml", "self/site.yaml"} {
		files[name] = &fstest.MapFile{Data: naming("self")}
	}
	for i := range mostManifests + 1 {
		files["many/"+strings.Repeat("a", i+1)+".yaml"] = &fstest.MapFile{Data: []byte(agent)}
	}
	for named, want := range map[string]string{
		"[crds.yaml, again.yaml]":    `site.yaml:3:56: spec.manifestsFile: the file "again.yaml" has CustomResourceDefinition agents.hub.example.com twice, in its line 2`,
		"[crds.yaml, reboot.yaml]":   `the file "reboot.yaml" has Tuned a, and it drains or reboots the node`,
		"reboot.yaml":                `in its line 3`,
		"[crds.yaml, broken.yaml]":   `the file "broken.yaml" is not YAML: has a bracket that is never closed, or nothing between two commas, in its line 2`,
		"[crds.yaml, binary.yaml]":   `the file "binary.yaml" has a NUL byte, so it is binary or UTF-16, in its line 2`,
		"[crds.yaml, empty.yaml]":    `the file "empty.yaml" is empty`,
		"comments.yaml":              "has no object in it",
		"[crds.yaml, none.yaml]":     `the file "none.yaml" does not exist`,
		"hub":                        `the folder "hub" has no file whose name ends with`,
		"[half.yaml, half2.yaml]":    "more than the 100 objects",
		"[large.yaml, large2.yaml]":  "files that are together larger than 256 KiB",
		".":                          "site.yaml:3:56: spec.manifestsFile: names the folder that holds the site config itself",
		"[crds.yaml, hub/../]":       "names the folder that holds the site config itself",
		"site.yaml":                  `the file "site.yaml" has a site config (SiteConfig), which is not an object of the cluster`,
		"self":                       `the file "self/site.yaml" has a site config (SiteConfig), which is not an object of the cluster`,
		"many":                       "names more than the 100 files",
		"[crds.yaml, ../x.yaml]":     "leads out of the document's folder",
		"[crds.yaml, /etc]":          "leads out of the document's folder",
		"../x":                       "leads out of the document's folder",
		"{a: b}":                     "spec.manifestsFile",
		"[crds.yaml, [import.yaml]]": "where one value is expected",
		"[crds.yaml, 7]":             "where text is expected",
		"[crds.yaml, '']":            "an item without a value",
		"&a [crds.yaml]":             "has an anchor",
	} {
		_, err := Parse(naming(named), "site.yaml", files)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "spec.manifestsFile") {
			t.Errorf("%s: %v, want %q", named, err, want)
		}
	}
	both := []byte(head + "spec: {manifests: 'x', manifestsFile: [crds.yaml]}\n")
	if _, err := Parse(both, "site.yaml", files); err == nil || !strings.Contains(err.Error(), "is given as well as manifests") {
		t.Errorf("both: %v", err)
	}
	if _, err := Parse(naming("[crds.yaml]"), "site.yaml", nil); err == nil || !strings.Contains(err.Error(), "was not read from a folder") {
		t.Errorf("without a folder: %v", err)
	}
}

// TestManifestFolderOnDisk: a folder beside the document is read below it alone.
func TestManifestFolderOnDisk(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(outside, "x.yaml"), agent)
	write(t, filepath.Join(dir, "hub", "a.yaml"), crds)
	write(t, filepath.Join(dir, "site.yaml"), string(naming("hub")))
	if c, err := Load(filepath.Join(dir, "site.yaml")); err != nil || !strings.Contains(string(c.Spec.Manifests), "CustomResourceDefinition") {
		t.Errorf("%v", err)
	}
	for link, target := range map[string]string{"hub/b.yaml": filepath.Join(outside, "x.yaml"), "out": outside} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "site.yaml"), string(naming(filepath.Dir(link+"/x"))))
		named := "hub"
		if link == "out" {
			named = "out"
		}
		write(t, filepath.Join(dir, "site.yaml"), string(naming(named)))
		if _, err := Load(filepath.Join(dir, "site.yaml")); err == nil || !strings.Contains(err.Error(), "leads out of the document's folder") {
			t.Errorf("%s: %v", link, err)
		}
	}
}
