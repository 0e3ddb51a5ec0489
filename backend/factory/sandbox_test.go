package factory_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"touchdown/backend/factory"
	"touchdown/backend/host"
	"touchdown/test/wait"
)

// exposure is what systemd-analyze may say of a unit at most: 0 is a service that can do nothing, 10 one that can do all.
var exposure = map[string]float64{
	"touchdown-console@.service": 3, "touchdown-keyboard@.service": 2, "touchdown-engine.service": 6, "touchdown-images.service": 6, "touchdown-images-check.service": 6,
}

func TestExposure(t *testing.T) {
	t.Parallel()
	wait.Program(t, "systemd-analyze")
	all, err := factory.Manifests(host.DefaultOwn)
	if err != nil {
		t.Fatal(err)
	}
	overall := regexp.MustCompile(`Overall exposure level for .*: ([0-9.]+) `)
	seen := 0
	for _, m := range all {
		for _, f := range m.Files {
			most, judged := exposure[path.Base(f.Path)]
			if !judged {
				continue
			}
			seen++
			file := filepath.Join(t.TempDir(), path.Base(f.Path))
			if err := os.WriteFile(file, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=true", file).CombinedOutput()
			found := overall.FindSubmatch(out)
			if err != nil || found == nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			got, err := strconv.ParseFloat(string(found[1]), 64)
			t.Logf("%s: %.1f, at most %.1f", path.Base(file), got, most)
			if err != nil || got > most {
				t.Errorf("%s is exposed at %.1f, more than %.1f:\n%s", path.Base(file), got, most, out)
			}
		}
	}
	if seen != len(exposure) {
		t.Errorf("%d of %d units found", seen, len(exposure))
	}
}

// TestMountsAreShared: the engine and the units of the image store see the node's mounts as they come and go, and CRI-O sees
// what they mount. In a separate mount namespace none of that would be sure, and rename and link would fail between the parts
// of one disk that are mounted there separately.
func TestMountsAreShared(t *testing.T) {
	t.Parallel()
	units := unitFiles(t)
	private := regexp.MustCompile(`^Service\.(Private(Tmp|Mounts|Devices|IPC)|Protect(System|Home|Proc|Hostname|Kernel.*|ControlGroups)|ProcSubset|.*Paths|Bind.*|TemporaryFileSystem|Root.*|Mount.*|LogNamespace|DynamicUser|InaccessibleDirectories|ReadOnlyDirectories)$`)
	for _, name := range []string{"touchdown-engine.service", "touchdown-images.service", "touchdown-images-check.service"} {
		for key := range units[name] {
			if private.MatchString(key) {
				t.Errorf("%s: %s gives it its own mounts", name, strings.TrimPrefix(key, "Service."))
			}
		}
	}
}

// TestNoCoreDumps: what our programs hold in memory can be secret. The login gives a person a shell, whose limits are theirs.
func TestNoCoreDumps(t *testing.T) {
	t.Parallel()
	for name, unit := range unitFiles(t) {
		limit := strings.Join(unit["Service.LimitCORE"], " ")
		switch shell := strings.HasPrefix(name, "touchdown-login@"); {
		case !strings.HasPrefix(name, "touchdown-") || !strings.HasSuffix(name, ".service"):
		case shell && limit != "":
			t.Errorf("%s gives a shell with LimitCORE=%s", name, limit)
		case !shell && limit != "0":
			t.Errorf("%s leaves core dumps", name)
		}
	}
}
