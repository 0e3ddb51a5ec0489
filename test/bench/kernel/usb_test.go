package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/media/volume"
	"touchdown/test/bench"
	"touchdown/test/bench/node"
	"touchdown/test/bench/site"
	"touchdown/test/stick"
	"touchdown/test/wait"
)

// TestAStickOfUSB plugs a stick into a node that nobody is at. What the real kernel's drivers bring is read by the process without rights,
// and what the node says goes back onto the stick through them: first why it does not start, as the emulated machine is too small. Once a
// person has taken responsibility for that and left, the stick is put in again, and the node lands by it. It goes on with the stick pulled.
func TestAStickOfUSB(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Minute, errors.New("longer than half an hour"))
	defer cancel()
	image, records := siteStick(ctx, t)
	edge := site.New(t, site.Options{Network: site.Edge()})
	f := &trip{T: t, ctx: ctx, edge: edge, begun: time.Now(), guest: New(t, Options{Networks: map[int]*site.Site{Untagged: edge}})}
	f.guest.serial = siteSerial
	wait.Explain(t, "what the node says", func() string {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Timeout(10*time.Second))
		defer cancel()
		out, err := f.guest.Shell(ctx, "touchdown status; tail -n 20 "+layout.State+"/engine.log; ls -l "+layout.Media)
		return fmt.Sprintln(out, err)
	})
	f.must(f.guest.Boot(ctx))
	f.shows("install -d -m 700 " + layout.State + " " + layout.Media)
	for _, file := range records {
		f.must(f.guest.WriteFile(ctx, layout.Media+"/"+file.Name, file.Data, 0o600))
	}
	f.shows("modprobe xhci_pci")
	f.await("the look", `touchdown status -o json | grep -q '"hw-memory"'`)

	f.must(f.guest.Insert("stick", image))
	f.await("what the node left on the stick", "test -s "+layout.Media+"/left")
	f.must(f.guest.Pull("stick"))
	if text := stick.Read(t, image, "question.txt"); !strings.Contains(text, "The landing has not started.") || !strings.Contains(text, siteSerial) {
		t.Errorf("on the stick is:\n%s", text)
	}
	f.await("the pulled stick", `! test -e /sys/block/sda`)

	f.waives()
	inserted := time.Now()
	f.must(f.guest.Insert("again", image))
	f.await("the engine's word of the stick", `touchdown status -o json | grep -q "SITECONFIG (sd"`)
	f.await("the start of the landing", `grep -q "The landing was started by medium" /var/lib/touchdown/journal.jsonl`)
	t.Logf("the landing began %.1f s after the stick was put in", time.Since(inserted).Seconds())
	f.must(f.guest.Pull("again"))
	f.await("the address of the site config", onBridge("198.51.100.10/24"))
	f.shows("tail -n +2 "+layout.Media+"/used | wc -l", "1")
	if out, err := exec.CommandContext(ctx, "fsck.vfat", "-n", image).CombinedOutput(); err != nil {
		t.Errorf("the stick's file system: %v: %s", err, out)
	}
}

// siteStick makes what a factory makes of the site's answers: the image of a stick, and the records of media that the bake lays on the node.
func siteStick(ctx context.Context, t *testing.T) (image string, records []volume.File) {
	t.Helper()
	root, err := bench.Root()
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"mtype", "fsck.vfat"} {
		if _, err := exec.LookPath(tool); err != nil {
			node.Require(t, fmt.Errorf("%w: %w", node.ErrUnable, err))
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.yaml"), []byte(config(form("interface: enp1s0"))), 0o600); err != nil {
		t.Fatal(err)
	}
	touchdown := func(argv ...string) {
		t.Helper()
		cmd := exec.CommandContext(ctx, filepath.Join(root, ".cache", "bin", "touchdown"), argv...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", argv, err, out)
		}
	}
	touchdown("media", "keygen", "factory")
	keys, err := os.ReadFile(filepath.Join(dir, "factory.pub"))
	if err != nil {
		t.Fatal(err)
	}
	recipient, records := stick.Records(t, keys)
	touchdown("media", "write", "-f", "site.yaml", "--serial", siteSerial, "--key", "factory.key", "--recipient", recipient, "--unattended", "stick.img")
	return filepath.Join(dir, "stick.img"), records
}
