package iso_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	ignition "github.com/coreos/ignition/v2/config/v3_5"

	"touchdown/backend/media/iso"
	"touchdown/backend/problem"
)

// laying is an installation whose system gets files beside.
func laying(target string) iso.Install {
	return iso.Install{
		Ignition: []byte(target), Disk: iso.DiskOnly, LeastGB: 100,
		Lay: map[string][]byte{"/var/lib/t/a/one": []byte(secret + " +%/\n"), "/var/lib/t/b": []byte("two")},
	}
}

// TestFilesAreLaidOnTheInstalledSystem: beside those of its config, for root alone, in folders for root alone; nothing else of the config changes.
func TestFilesAreLaidOnTheInstalledSystem(t *testing.T) {
	for _, target := range []string{
		`{"ignition":{"version":"3.2.0"}}`,
		`{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"https://192.0.2.1/master"}]}},"storage":{"files":[{"path":"/etc/a","contents":{"source":"data:,mine"}}],"directories":[{"path":"/var/lib/mine"}]},"passwd":{"users":[{"name":"core"}]}}`,
	} {
		made, err := laying(target).AddTo(nil)
		if err != nil {
			t.Fatal(err)
		}
		text := laid(t, made)["/etc/touchdown/target.ign"]
		c, report, err := ignition.ParseCompatibleVersion([]byte(text)) // as the installed system reads it
		if err != nil || report.IsFatal() {
			t.Fatalf("%v %s", err, report.String())
		}
		private := map[string]int{}
		for _, f := range c.Storage.Files {
			if f.Mode != nil {
				private[f.Path] = *f.Mode
			}
		}
		for _, d := range c.Storage.Directories {
			if d.Mode != nil {
				private[d.Path] = *d.Mode
			}
		}
		if len(private) != 4 || private["/var/lib/t/a/one"] != 0o600 || private["/var/lib/t/b"] != 0o600 || private["/var/lib/t"] != 0o700 || private["/var/lib/t/a"] != 0o700 {
			t.Errorf("modes %v", private)
		}
		if strings.Contains(target, "mine") && (!strings.Contains(text, "https://192.0.2.1/master") || !strings.Contains(text, "/var/lib/mine") || len(c.Passwd.Users) != 1 || len(c.Storage.Files) != 3) {
			t.Errorf("the config lost something: %s", text)
		}
		files, err := iso.InstalledFiles(made)
		if err != nil || string(files["/var/lib/t/a/one"]) != secret+" +%/\n" || string(files["/var/lib/t/b"]) != "two" {
			t.Errorf("it is read as %q, %v", files, err)
		}
		if read, err := iso.ReadConfig(made); err != nil {
			t.Error(err)
		} else if shown, err := json.Marshal(read); err != nil || strings.Contains(string(shown), secret) {
			t.Errorf("what is read has the secret: %s, %v", shown, err)
		}
	}
}

// TestFilesThatCannotBeLaid: what the config of the installed system would lose, or take away again, is refused.
func TestFilesThatCannotBeLaid(t *testing.T) {
	for want, targets := range map[string][]string{
		"LVE-RPLC": {`{"ignition":{"version":"3.4.0","config":{"replace":{"source":"https://u:hidden@192.0.2.1/a"}}}}`},
		"LVE-GNTN": {`{"ignition":{"version":"2.2.0"}}`, `{}`},
		"LVE-TWCE": {
			`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/var/lib/t/b","contents":{"source":"data:,hidden"}}]}}`,
			`{"ignition":{"version":"3.4.0"},"storage":{"directories":[{"path":"/var/lib/t","mode":511}]}}`,
			`{"ignition":{"version":"3.4.0"},"storage":{"links":[{"path":"/var/lib/t","target":"/tmp"}]}}`,
			`{"ignition":{"version":"3.4.0"},"storage":{"links":[{"path":"/var/lib/t/b","target":"/tmp"}]}}`,
		},
	} {
		for _, target := range targets {
			if _, err := laying(target).AddTo(nil); problem.From(err).Code != want || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s: %v, not %s", target, err, want)
			}
		}
	}
	for _, name := range []string{"/etc/a", "/var/lib/../a", "var/lib/a", "/var/lib/", "/var/liba/b"} {
		in := laying(targetConfig)
		in.Lay = map[string][]byte{name: nil}
		if _, err := in.AddTo(nil); err == nil {
			t.Errorf("%s is laid", name)
		}
	}
}

// TestInstalledFilesOfHostileConfigs: what is not an installation has none, and nothing is read from beyond the config.
func TestInstalledFilesOfHostileConfigs(t *testing.T) {
	made, err := laying(targetConfig).AddTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := iso.InstalledFiles([]byte(strings.Replace(string(made), `"enabled":true`, `"enabled":false`, 1))); files != nil || err != nil {
		t.Errorf("it installs nothing, and has %d files, %v", len(files), err)
	}
	spoilt := slices.Concat([]byte(nil), made)
	at := strings.Index(string(spoilt), "data:,%7B%22ignition") // the target's
	if at < 0 {
		t.Fatalf("no target in %.300s", spoilt)
	}
	copy(spoilt[at:], "data:,%5B%22ignition")
	if files, err := iso.InstalledFiles(spoilt); files != nil || problem.From(err).Code != "LVE-GNTN" {
		t.Errorf("%d files, %v", len(files), err)
	}
	copy(spoilt[at:], "data:;base64,%%%%%%%")
	if files, err := iso.InstalledFiles(spoilt); files != nil || err == nil {
		t.Errorf("%d files, %v", len(files), err)
	}
}
