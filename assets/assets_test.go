package assets

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coreos/butane/config"
	"github.com/coreos/butane/config/common"
)

var update = flag.Bool("update", false, "translate the Butane documents again")

// TestMachineConfigs proves that the manifests in the program are what Butane makes of the documents beside them.
func TestMachineConfigs(t *testing.T) {
	documents, err := filepath.Glob("machineconfigs/*.bu")
	if err != nil || len(documents) == 0 {
		t.Fatalf("no Butane documents (%v)", err)
	}
	for _, name := range documents {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		options := common.TranslateBytesOptions{}
		options.FilesDir = filepath.Join("..", "iso-overlay")
		options.NoResourceAutoCompression = true // people read the manifests
		want, report, err := config.TranslateBytes(source, options)
		if err != nil || len(report.Entries) > 0 {
			t.Fatalf("%s: %v\n%s", name, err, report.String())
		}
		manifest := strings.TrimSuffix(name, ".bu") + ".yaml"
		if *update {
			if err := os.WriteFile(manifest, want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, _ := os.ReadFile(manifest); string(got) != string(want) {
			t.Errorf("%s is not what %s says: run `go generate ./assets`", manifest, name)
		}
	}
}
