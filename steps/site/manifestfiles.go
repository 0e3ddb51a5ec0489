package site

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"touchdown/backend/message"

	"gopkg.in/yaml.v3"
)

// ManifestFile is a file with Kubernetes objects, such as one of several that a hub gives.
type ManifestFile struct{ Name, Text string }

// TakesFolder tells whether a value can come from the files of a folder.
func TakesFolder(path string) bool { return path == pathManifests }

// ManifestNames picks the files of a folder that have Kubernetes objects, by their names, in the order in which they are applied: that of
// the names, as kubectl apply -f FOLDER takes it. What begins with a dot was left there by another system.
func ManifestNames(names []string) []string {
	var some []string
	for _, name := range names {
		ending := strings.ToLower(path.Ext(name))
		if !strings.HasPrefix(path.Base(name), ".") && slices.Contains([]string{".yaml", ".yml", ".json"}, ending) {
			some = append(some, name)
		}
	}
	slices.Sort(some)
	return some
}

// JoinManifests makes one spec.manifests of several files, in their order. Its errors name the file and the line.
func JoinManifests(files []ManifestFile) (string, error) {
	text, f := joinManifests(files)
	if f != nil {
		return "", f
	}
	return text, nil
}

func joinManifests(files []ManifestFile) (string, *Error) {
	var joined strings.Builder
	for i, file := range files {
		text, f := readable([]byte(file.Text))
		if f != nil {
			return "", fault(f.Fix, message.F("the file %s %s, in its line %d", shown(file.Name), f.Msg, f.Line))
		}
		files[i].Text = string(fromJSON(text)) // what is joined is not JSON any more
		if i > 0 {
			joined.WriteString("---\n")
		}
		joined.WriteString(files[i].Text)
		if !strings.HasSuffix(files[i].Text, "\n") {
			joined.WriteString("\n")
		}
		if joined.Len() > maxManifests {
			return "", fault(message.T("have an operator of the cluster or the hub bring them"), message.F("has files that are together larger than %d KiB", maxManifests>>10))
		}
	}
	if _, f := objectsIn(files); f != nil {
		return "", f
	}
	return joined.String(), nil
}

// manifestFiles reads a value that one or several files bring: names of files, and of folders whose files are read.
func (r *reader) manifestFiles(key, value *yaml.Node, e *entry, p string) {
	names := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		if f := plainList(value); f != nil {
			r.report(value, p, f)
			return
		}
		names = value.Content
	}
	var files []ManifestFile
	var called []string
	for _, n := range names {
		f := plainNode(n, yaml.ScalarNode)
		f = cmp.Or(f, e.accepts(n, lastPart(p)))
		if f == nil && n.Value == "" {
			if value.Kind == yaml.ScalarNode {
				return
			}
			f = fault(message.T("remove it"), message.T("has an item without a value"))
		}
		var some []ManifestFile
		if f == nil {
			some, f = manifestsAt(r.files, n.Value, mostManifests-len(files))
		}
		if f != nil {
			r.report(n, p, f)
			return
		}
		files, called = append(files, some...), append(called, n.Value)
	}
	if len(files) == 0 {
		return
	}
	text, f := joinManifests(files)
	target := sibling(p, e.into)
	f = cmp.Or(f, r.config.put(target, text))
	if f != nil {
		r.report(value, p, f)
		return
	}
	r.took(key, target, "file "+strings.Join(called, ", "))
}

// manifestsAt reads a file, or those of a folder.
func manifestsAt(files fs.FS, name string, most int) (all []ManifestFile, f *Error) {
	names := []string{name}
	if files != nil && fs.ValidPath(path.Clean(name)) {
		if info, err := fs.Stat(files, path.Clean(name)); err == nil && info.IsDir() {
			if path.Clean(name) == "." {
				return nil, fault(message.T("put the objects into a separate folder, and write its name"), message.T("names the folder that holds the site config itself, with all that lies beside it"))
			}
			entries, err := fs.ReadDir(files, path.Clean(name))
			if err != nil {
				return nil, fault(message.Text{}, message.F("the folder %s cannot be read: %s", shown(name), cause(err)))
			}
			names = nil
			for _, entry := range entries {
				if !entry.IsDir() {
					names = append(names, path.Join(name, entry.Name()))
				}
			}
			if names = ManifestNames(names); len(names) == 0 {
				return nil, fault(message.T("check the name, upper and lower case too"), message.F("the folder %s has no file whose name ends with .yaml, .yml or .json", shown(name)))
			}
		}
	}
	if len(names) > most {
		return nil, fault(message.T("put several objects into one file, with --- between them"), message.F("names more than the %d files that are allowed", mostManifests))
	}
	for _, name := range names {
		text, f := readReferenced(files, name, maxManifests)
		if f != nil {
			return nil, f
		}
		all = append(all, ManifestFile{name, text})
	}
	return all, nil
}
