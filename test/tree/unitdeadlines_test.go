package tree

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// How a unit and a script tell a length: a setting of systemd other than 0, which is none; a command that ends or waits by the clock; and a
// loop that counts.
var (
	unitSetting = regexp.MustCompile(`^(\w+Sec=.*[1-9].*)$|(--timeout[ =]\d+)`)
	scriptTime  = regexp.MustCompile(`\btimeout \d+|--(?:timeout|wait|max-time)[ =]\d+|\bsleep [\d.]+|\bread\b.* (-t [\d.]+)|\{\d+\.\.\d+\}|\bseq \d+|\$\(\(SECONDS\b[^)]*\)\) -\w+ \d+`)
	opens       = regexp.MustCompile(`^(\w+)\(\) \{`)
)

// deadlinesOfText are those of a unit, in its sections, or of a script, in its functions. Comments have none.
func deadlinesOfText(name, text string) (all []deadline) {
	find, in := unitSetting, "the unit"
	if strings.HasPrefix(text, "#!") {
		find, in = scriptTime, "the script"
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if opened := opens.FindStringSubmatch(line); opened != nil {
			in = opened[1]
		} else if line == "}" {
			in = "the script"
		}
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		code, _, _ := strings.Cut(line, " # ")
		for _, found := range find.FindAllStringSubmatch(code, -1) {
			when := slices.IndexFunc(found[1:], func(part string) bool { return part != "" }) + 1
			if d := (deadline{name, in, found[when]}); !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// unitDeadlines are those of the files that are laid on a node and of the live system. The MachineConfigs are made of the same files.
func unitDeadlines() (all []deadline, err error) {
	for _, top := range []string{"iso-overlay", "assets"} {
		err = filepath.WalkDir(filepath.Join("../..", top), func(path string, d fs.DirEntry, err error) error {
			made := slices.Contains([]string{".go", ".yaml", ".ign", ".json", ".svg", ".html", ".md", ".mk"}, filepath.Ext(path))
			if err != nil || d.IsDir() || made {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("reading: %w", err)
			}
			all = append(all, deadlinesOfText(strings.TrimPrefix(filepath.ToSlash(path), "../../"), string(text))...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TestDeadlinesOfUnitsAreFound in whatever way they stand.
func TestDeadlinesOfUnitsAreFound(t *testing.T) {
	unit := "[Unit]\nStartLimitIntervalSec=0\n[Service]\n# TimeoutStopSec=1\nExecStart=/sbin/agetty --timeout 120 tty1\nTimeoutStartSec=2min 20s\n"
	script := `#!/bin/bash
f() {
	for _ in {1..30}; do sleep 0.2; done # sleep 9
	if ! timeout 600 x; then nmcli --wait 20 up; fi
}
while read -r -t 0.1 line; do [ $((SECONDS - told)) -lt 20 ]; done
`
	var got []string
	for _, d := range append(deadlinesOfText("u", unit), deadlinesOfText("s", script)...) {
		got = append(got, d.in+" "+d.when)
	}
	want := []string{
		"the unit --timeout 120", "the unit TimeoutStartSec=2min 20s", "f {1..30}", "f sleep 0.2", "f timeout 600", "f --wait 20",
		"the script -t 0.1", "the script $((SECONDS - told)) -lt 20",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}
