package selinux_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"touchdown/backend/factory"
)

const (
	unitDir       = "/etc/systemd/system/"
	dispatcherDir = "/etc/NetworkManager/dispatcher.d/"
)

// The daemon lays files from a privileged container. It makes each beside its place and renames it
// (openshift/machine-config-operator, pkg/daemon/file_writers.go); that the type is the one that Ignition would give is asked.
const daemon = "spc_t"

// unitQuestions are what these files have systemd and NetworkManager do.
func unitQuestions(t *testing.T, files []factory.File) []string {
	t.Helper()
	var out []string
	for _, f := range files {
		out = append(out, daemon+" replace "+f.Path)
		switch {
		case strings.HasPrefix(f.Path, unitDir):
			if dir := path.Dir(f.Path) + "/"; dir != unitDir {
				out = append(out, daemon+" create "+dir)
			}
			out = append(out, "init_t read "+f.Path)
			out = append(out, unitFile(t, f)...)
		case strings.HasPrefix(f.Path, dispatcherDir):
			out = append(out, "NetworkManager_dispatcher_t execute "+f.Path)
		case strings.HasPrefix(f.Path, "/etc/NetworkManager/"):
			out = append(out, "NetworkManager_t read "+f.Path)
		case strings.HasPrefix(f.Path, "/etc/tmpfiles.d/"):
			out = append(out, "systemd_tmpfiles_t read "+f.Path)
			out = append(out, tmpfiles(t, f)...)
		}
	}
	return out
}

// quiet are the settings of units whose value names no file of the node, or one that systemd itself does not touch.
var quiet = regexp.MustCompile(`^Unit\.(Description|After|Before|Wants|RequiresMountsFor|Conflicts|OnSuccess|OnFailure)$|^Service\.DeviceAllow$|^Install\.`)

func unitFile(t *testing.T, f factory.File) (out []string) {
	t.Helper()
	setting, folder := map[string]string{}, map[string]string{"RuntimeDirectory": "/run/", "StateDirectory": "/var/lib/"}
	unit := parseUnit(string(f.Data))
	for _, kv := range unit {
		setting[kv[0]] = kv[1]
	}
	for _, kv := range unit {
		key := kv[0]
		value := strings.NewReplacer("%i", "tty1", "%I", "tty1").Replace(kv[1])
		words := strings.Fields(value)
		_, name, _ := strings.Cut(key, ".")
		switch {
		case quiet.MatchString(key) || len(words) == 0:
		case strings.HasPrefix(key, "Service.Exec"):
			program := strings.TrimLeft(words[0], "@-:+!|")
			verb := "execute"
			if setting["Service.NoNewPrivileges"] == "yes" && !strings.Contains(strings.TrimSuffix(words[0], program), "+") {
				verb = "execute-nnp"
			}
			out = append(out, "init_t "+verb+" "+program)
		case key == "Service.EnvironmentFile":
			out = append(out, "init_t read "+strings.TrimPrefix(value, "-"))
		case strings.HasPrefix(key, "Unit.Condition"):
			if file := strings.TrimLeft(value, "|!"); strings.HasPrefix(file, "/") {
				out = append(out, "init_t test "+file)
			}
		case folder[name] != "":
			out = append(out, "init_t place "+folder[name]+value+"/")
		case key == "Service.TTYPath":
			out = append(out, "init_t read "+value, "init_t write "+value)
		case key == "Service.ReadWritePaths":
			out = append(out, "init_t mounton "+value+"/")
		case key == "Mount.What":
			out = append(out, "init_t execute /usr/bin/mount", "mount_t read "+value+"/")
		case key == "Mount.Where":
			out = append(out, "init_t test "+value+"/", "mount_t mounton "+value+"/")
		case strings.HasPrefix(value, "/"):
			t.Errorf("%s: what systemd does with %s=%s is not known here", f.Path, key, value)
		}
	}
	return out
}

func parseUnit(text string) (out [][2]string) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		}
		if key, value, found := strings.Cut(line, "="); found && !strings.HasPrefix(line, "#") {
			out = append(out, [2]string{section + "." + key, value})
		}
	}
	return out
}

// tmpfiles are what systemd-tmpfiles makes. It labels what it makes by its path.
func tmpfiles(t *testing.T, f factory.File) (out []string) {
	t.Helper()
	for line := range strings.Lines(string(f.Data)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case words[0] == "d":
			out = append(out, "systemd_tmpfiles_t place "+words[1]+"/")
		case words[0] == "f":
			out = append(out, "systemd_tmpfiles_t place "+words[1])
		default:
			t.Errorf("%s: what systemd-tmpfiles does for %q is not known here", f.Path, words[0])
		}
	}
	return out
}
