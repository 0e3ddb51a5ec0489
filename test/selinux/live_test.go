package selinux_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/vincent-petithory/dataurl"

	"touchdown/assets"
	"touchdown/backend/factory"
)

// liveFiles are what Ignition lays in a live system that installs.
func liveFiles(t *testing.T) (files []factory.File) {
	t.Helper()
	config, report, err := ignition.ParseCompatibleVersion(assets.LiveInstall)
	if err != nil || report.IsFatal() {
		t.Fatalf("%v %s", err, report.String())
	}
	for _, f := range config.Storage.Files {
		u, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, factory.File{Path: f.Path, Data: u.Data})
	}
	for _, u := range config.Systemd.Units {
		files = append(files, factory.File{Path: unitDir + u.Name, Data: []byte(*u.Contents)})
	}
	return files
}

// noPrograms are words of the script that look like programs: of the shell, of its sentences, and of what it has jq do.
var noPrograms = strings.Fields("/. boot busy command dos export install last least length no not only select serial the umask wwn yes")

// TestTheLiveSystemsUsesAreKnown: uses.txt says what the scripts of a live system run and name, and no more; their units have systemd do
// what it does for a node's units, to whose answers the policies were asked: it runs programs of /usr/local/bin.
func TestTheLiveSystemsUsesAreKnown(t *testing.T) {
	files, facts := liveFiles(t), readFacts(t)
	var uses []use
	for _, u := range readUses(t) {
		if verb, is := strings.CutPrefix(u.verb, "live-"); is {
			uses = append(uses, use{u.who, verb, u.what})
		}
	}
	scripts := scriptsOf(files)
	if len(scripts) == 0 || len(uses) == 0 {
		t.Fatalf("%d scripts, %d uses", len(scripts), len(uses))
	}
	for name, s := range scripts {
		for _, what := range missing(name, s.text, uses) {
			if slices.Contains(noPrograms, strings.TrimPrefix(what, "runs ")) {
				continue
			}
			t.Errorf("%s %s, of which uses.txt says nothing", name, what)
		}
	}
	for _, u := range uses {
		if u.verb == "execute" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(path.Base(u.what))+`\b`).MatchString(withFirst(scripts[u.who].text)) {
			t.Errorf("%s does not run %s", u.who, u.what)
		}
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Path, unitDir) {
			continue
		}
		for _, q := range unitFile(t, f) {
			words := strings.Fields(q)
			if program := words[2]; words[1] == "execute" {
				if _, isScript := scripts[program]; !isScript || !facts["init_t execute /usr/local/bin/touchdown-line"].allowed {
					t.Errorf("%s: may systemd run %s?", f.Path, program)
				}
			}
		}
	}
}
