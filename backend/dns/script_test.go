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

// What a factory's node answers is what a landed one answers, for the names of the factory: the script writes them before there is a Touchdown.
func TestTheFactorysScriptAnswersAsASiteDoes(t *testing.T) {
	text, err := os.ReadFile("../../iso-overlay/usr/local/bin/dnsmasq_config.sh")
	if err != nil {
		t.Fatal(err)
	}
	etc := t.TempDir()
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
	run := exec.Command("bash", "-c", strings.ReplaceAll(string(text), "/etc/", etc+"/"))
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	if out, err := run.CombinedOutput(); err != nil {
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
