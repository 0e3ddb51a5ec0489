package dns

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// script runs a script of the node with another /etc, behind what bash does first.
func script(t *testing.T, file, etc, first string, args ...string) (string, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../iso-overlay", file))
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{
		"kubernetes/apiserver-url.env": "KUBERNETES_SERVICE_HOST='api-int.sno.factory.example'\n",
		"default/touchdown-address":    "KUBELET_NODE_IP=192.168.127.10\n",
	} {
		if err := os.MkdirAll(filepath.Join(etc, filepath.Dir(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(etc, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("bash", append([]string{"-c", first + "\n" + strings.ReplaceAll(string(text), "/etc/", etc+"/"), file}, args...)...)
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := run.CombinedOutput()
	return string(out), err
}

const (
	dnsmasqScript = "usr/local/bin/dnsmasq_config.sh"
	resolvScript  = "etc/NetworkManager/dispatcher.d/forcedns"
)

// TestAFullDiskKeepsWhatIsThere: a file that cannot be written whole does not take the place of the one before. A node without a name server
// starts no pod, and nothing would write the file again once there is room.
func TestAFullDiskKeepsWhatIsThere(t *testing.T) {
	for file, of := range map[string]string{"dnsmasq.d/single-node.conf": dnsmasqScript, "resolv.conf": resolvScript} {
		etc := t.TempDir()
		file = filepath.Join(etc, file)
		const before = "what worked\n"
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		// No file may grow, and that ends nobody: a write fails as on a full disk, while a file is made and renamed.
		if out, err := script(t, of, etc, "trap '' XFSZ; ulimit -f 0", "br-ex", "up"); err == nil {
			t.Errorf("%s says that it wrote: %s", of, out)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != before {
			t.Errorf("%s leaves %q (%v)", of, b, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*.conf*")); len(left) > 0 {
			t.Errorf("%s leaves %v", of, left)
		}
		if out, err := script(t, of, etc, "", "br-ex", "up"); err != nil {
			t.Errorf("%s with room: %v: %s", of, err, out)
		}
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "192.168.127.10") {
			t.Errorf("%s writes %q (%v)", of, b, err)
		}
	}
}

// What a factory's node answers is what a landed one answers, for the names of the factory: the script writes them before there is a Touchdown.
func TestTheFactorysScriptAnswersAsASiteDoes(t *testing.T) {
	etc := t.TempDir()
	if out, err := script(t, dnsmasqScript, etc, ""); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(etc, "dnsmasq.d/single-node.conf"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := Zone{Addresses: []netip.Addr{netip.MustParseAddr("192.168.127.10")}}.encode("sno.factory.example")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sorted(string(b)), sorted(want); got != want {
		t.Errorf("the script writes\n%s\nand a landing\n%s", got, want)
	}
	if first, last := strings.Index(string(b), "local="), strings.LastIndex(string(b), "address="); first < last {
		t.Errorf("a name is closed before its address is told:\n%s", b)
	}
}

func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}
