package assets

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/butane/config"
	"github.com/coreos/butane/config/common"
	"github.com/coreos/ignition/v2/config/v3_4"
)

var update = flag.Bool("update", false, "translate the Butane documents again")

// TestTranslations proves that the documents in the program are what Butane makes of those beside them.
func TestTranslations(t *testing.T) {
	for folder, made := range map[string]string{"machineconfigs": ".yaml", "live": ".ign"} {
		documents, err := filepath.Glob(folder + "/*.bu")
		if err != nil || len(documents) == 0 {
			t.Fatalf("no Butane documents in %s (%v)", folder, err)
		}
		for _, name := range documents {
			translation(t, name, strings.TrimSuffix(name, ".bu")+made)
		}
	}
}

func translation(t *testing.T, name, made string) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	options := common.TranslateBytesOptions{Pretty: true}
	options.FilesDir = filepath.Join("..", "iso-overlay")
	options.NoResourceAutoCompression = true // people read what is made
	want, report, err := config.TranslateBytes(source, options)
	if err != nil || len(report.Entries) > 0 {
		t.Fatalf("%s: %v\n%s", name, err, report.String())
	}
	if *update {
		if err := os.WriteFile(made, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, _ := os.ReadFile(made); string(got) != string(want) {
		t.Errorf("%s is not what %s says: run `go generate ./assets`", made, name)
	}
}

// TestTheLiveConfigIsOldEnough: RHCOS 4.14 reads specifications up to 3.4.0, and a newer version of Butane's variant would make a newer one.
func TestTheLiveConfigIsOldEnough(t *testing.T) {
	if config, report, err := v3_4.ParseCompatibleVersion(LiveInstall); err != nil || len(report.Entries) > 0 || len(config.Systemd.Units) != 1 {
		t.Errorf("%v %s", err, report.String())
	}
}
