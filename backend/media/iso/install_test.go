package iso_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/media/iso"
	"touchdown/backend/problem"
)

const targetConfig = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,` + secret + `%20+%25"}}]}}`

// laid are the files of a config by their paths, as Ignition lays them, with those that are fetched by their URLs and hashes.
func laid(t *testing.T, config []byte) map[string]string {
	t.Helper()
	c, report, err := ignition.ParseCompatibleVersion(config)
	if err != nil || report.IsFatal() {
		t.Fatalf("%v %s", err, report.String())
	}
	files := map[string]string{}
	for _, f := range c.Storage.Files {
		text := *f.Contents.Source
		if strings.HasPrefix(text, "data:") {
			u, err := dataurl.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			text = string(u.Data)
		} else {
			text += " " + *f.Contents.Verification.Hash
		}
		if wants := map[bool]int{true: 0o755, false: 0o600}[strings.HasPrefix(f.Path, "/usr/local/bin/")]; strings.Contains(f.Path, "touchdown") && *f.Mode != wants {
			t.Errorf("%s has the mode %o", f.Path, *f.Mode)
		}
		files[f.Path] = text
	}
	for _, u := range c.Systemd.Units {
		if *u.Enabled {
			files[u.Name] = *u.Contents
		}
	}
	return files
}

// TestAnInstallationIsAdded: to no config and to one of any version, which stays what it is.
func TestAnInstallationIsAdded(t *testing.T) {
	hash := "sha512-" + strings.Repeat("0a", 64)
	in := iso.Install{Ignition: []byte(targetConfig), Disk: iso.DiskOnly, LeastGB: 100, Program: "http://192.0.2.1/touchdown", ProgramHash: hash}
	for _, live := range []string{
		"", `{"ignition":{"version":"3.0.0"},"x":1}`,
		`{"ignition":{"version":"3.5.0","config":{"merge":[{"source":"https://192.0.2.1/a"}]}},"storage":{"files":[{"path":"/etc/mine","mode":420,"contents":{"source":"data:,mine"}}],"links":[{"path":"/etc/l","target":"a"}]},"systemd":{"units":[{"name":"mine.service","enabled":true,"contents":"[Unit]\n"}]}}`,
	} {
		var config []byte
		version := `"3.4.0"`
		if live != "" {
			config = []byte(live)
			version = live[23:30]
		}
		made, err := in.AddTo(config)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(made), `"version":`+version) {
			t.Errorf("another version than %s: %.200s", version, made)
		}
		files := laid(t, made)
		if files["/etc/touchdown/target.ign"] != targetConfig || !strings.HasPrefix(files["/usr/local/bin/touchdown-install"], "#!/bin/bash\n") ||
			files["/usr/local/bin/touchdown"] != in.Program+" "+hash || !strings.Contains(files["touchdown-install.service"], "ExecStart=/usr/local/bin/touchdown-install\n") {
			t.Errorf("it lays %q", files)
		}
		if strings.Contains(live, "mine") && (files["/etc/mine"] != "mine" || files["mine.service"] != "[Unit]\n" || !strings.Contains(string(made), `"links":[{"path":"/etc/l"`) || !strings.Contains(string(made), "https://192.0.2.1/a")) {
			t.Errorf("the config lost something: %s", made)
		}
		read, err := iso.ReadConfig(made)
		if err != nil || read.Install == nil || read.Install.Disk != "only" || read.Install.LeastGB != 100 || len(read.Install.Medium) != 16 {
			t.Errorf("it is read as %+v, %v", read, err)
		}
		if text, err := json.Marshal(read); err != nil || strings.Contains(string(text), secret) {
			t.Errorf("what is read has the secret: %s, %v", text, err)
		}
		again, err := in.AddTo(config)
		if err != nil || laid(t, again)["/etc/touchdown/install.conf"] == files["/etc/touchdown/install.conf"] {
			t.Errorf("two media are the same (%v)", err)
		}
	}
	if read, err := iso.ReadConfig([]byte(targetConfig)); err != nil || read.Install != nil {
		t.Errorf("a config that installs nothing: %+v, %v", read, err)
	}
}

// TestInstallationsThatAreRefused: settings that name no disk, and configs that would lose something.
func TestInstallationsThatAreRefused(t *testing.T) {
	good := func() iso.Install {
		return iso.Install{Ignition: []byte(targetConfig), Disk: "serial:A B-1", LeastGB: 1, Overwrite: "A B-1", Kargs: iso.Edits{Append: []string{"a=b"}}}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*iso.Install){
		"no disk":            func(in *iso.Install) { in.Disk = "" },
		"a bare name":        func(in *iso.Install) { in.Disk = "sda" },
		"no serial number":   func(in *iso.Install) { in.Disk = "serial:" },
		"a line break":       func(in *iso.Install) { in.Disk = "serial:A\nOVERWRITE_SERIAL=B" },
		"another line break": func(in *iso.Install) { in.Overwrite = "A\nDISK=only" },
		"a wrong machine":    func(in *iso.Install) { in.Machine = "A\nDISK=only" },
		"a third one":        func(in *iso.Install) { in.Kargs.Append = []string{"a\nDISK=only"} },
		"a fourth one":       func(in *iso.Install) { in.Kargs.Delete = []string{"a\nDISK=only"} },
		"a space before it":  func(in *iso.Install) { in.Disk = "serial: A" },
		"a space after it":   func(in *iso.Install) { in.Overwrite = "A " },
		"a space alone":      func(in *iso.Install) { in.Overwrite = " " },
		"an empty argument":  func(in *iso.Install) { in.Kargs.Append = []string{""} },
		"an empty deletion":  func(in *iso.Install) { in.Kargs.Delete = []string{""} },
		"a folder":           func(in *iso.Install) { in.Disk = "/dev/disk/" },
		"no size":            func(in *iso.Install) { in.LeastGB = 0 },
		"a size of no disk":  func(in *iso.Install) { in.LeastGB = 1_000_000 },
		"no hash":            func(in *iso.Install) { in.Program = "http://192.0.2.1/touchdown" },
		"no URL":             func(in *iso.Install) { in.ProgramHash = "sha512-00" },
	} {
		in := good()
		change(&in)
		if err := in.Check(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for want, configs := range map[string][2]string{
		"LVE-GNTN": {`{}`, ""},
		"LVE-HASH": {`{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"http://192.0.2.1/master"}]}}}`, ""},
		"LVE-TWCE": {targetConfig, `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/touchdown/target.ign","contents":{"source":"data:,x"}}]}}`},
		"LVE-RPLC": {targetConfig, `{"ignition":{"version":"3.4.0","config":{"replace":{"source":"https://u:hidden@192.0.2.1/a"}}}}`},
	} {
		in := good()
		in.Ignition = []byte(configs[0])
		var live []byte
		if configs[1] != "" {
			live = []byte(configs[1])
		}
		_, err := in.AddTo(live)
		var p *problem.Problem
		if !errors.As(err, &p) || p.Code != want || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", want, err)
		}
	}
	twice := `{"ignition":{"version":"3.4.0"},"systemd":{"units":[{"name":"touchdown-install.service","enabled":false}]}}`
	var p *problem.Problem
	if _, err := good().AddTo([]byte(twice)); !errors.As(err, &p) || p.Code != "LVE-TWCE" {
		t.Errorf("a unit that is there twice: %v", err)
	}
}

// TestTheScriptReadsWhatIsEmbedded: what AddTo puts into the config drives the script that is in it.
func TestTheScriptReadsWhatIsEmbedded(t *testing.T) {
	t.Parallel()
	in := iso.Install{
		Ignition: []byte(targetConfig), Machine: "SN [1", Disk: "serial:S 1", LeastGB: 16, Overwrite: "S 1", CopyNetwork: true,
		Kargs: iso.Edits{Append: []string{"a=b,c+d%20 'e'", "f"}, Delete: []string{"quiet"}},
	}
	made, err := in.AddTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLive(t, holding(disk("sda", "S 1"), "xfs", "data"), disk("sdb", "S 2"))
	l.write("sys/class/dmi/id/product_serial", "To be filled by O.E.M.\n")
	l.write("sys/class/dmi/id/chassis_serial", " SN [1 \n")
	for path, text := range laid(t, made) {
		if strings.HasPrefix(path, "/etc/") {
			l.write(path[1:], text)
		}
	}
	l.boots("", "is overwritten, as --install-overwrite says")
	want := []string{"install", "--offline", "--copy-network", "--append-karg=a=b,c+d%20 'e'", "--append-karg=f", "--delete-karg=quiet", l.in("dev/sda"), ""}
	if got := strings.Split(l.read("installer"), "\n"); !slices.Equal(got, want) {
		t.Errorf("coreos-installer was told %q", got)
	}
	if got := l.read("bootfs/ignition/config.ign"); got != targetConfig {
		t.Errorf("the new system gets %q", got)
	}
}
