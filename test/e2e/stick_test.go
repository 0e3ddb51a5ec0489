package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/steps/session"
	"touchdown/test/bench/landing"
	"touchdown/test/bench/person"
	"touchdown/test/stick"
	"touchdown/test/wait"
)

const stickSerial = "SN0051"

// TestAStickLandsANode lands a sealed node by a stick, with nobody at its keys: the question at which the start stops goes onto the stick,
// and once it was answered, the stick that is put in again is all it takes. The report is on it in the end, and its site config is not.
func TestAStickLandsANode(t *testing.T) {
	f := newTrip(t, 8*time.Minute, landing.Options{})
	f.collecting()
	f.must(f.Node.Plate(f.ctx, stickSerial))
	image, sealed := f.stick(static("  monitor: {url: \"https://198.51.100.77/touchdown\", token: " + token + "}\n"))
	console := person.Sit(t, f.Node.Console("tty1"))
	defer func() { t.Log(console.Transcript()) }()

	pull, err := f.Node.Insert(f.ctx, image)
	f.must(err)
	f.is("what was left on the stick", func(s *landing.Status) bool { return strings.Contains(strings.Join(s.Notices, "\n"), "question.txt") })
	console.Keep("the question is on the stick")
	f.must(pull())
	f.is("the pulled stick", func(s *landing.Status) bool { return !strings.Contains(strings.Join(s.Notices, "\n"), "sdb") })
	question := stick.Read(t, image, "question.txt")
	if !strings.Contains(question, "The landing has not started.") || !strings.Contains(question, "Processor threads") {
		t.Errorf("the question on the stick:\n%s", question)
	}
	t.Log(question)
	f.waive()

	begin := time.Now()
	pull, err = f.Node.Insert(f.ctx, image)
	f.must(err)
	f.is("the landed node", landing.Landed)
	t.Logf("%.1f s from the stick to the landed node", time.Since(begin).Seconds())
	f.must(f.Proof(f.ctx, domain))
	f.is("what was left on the stick", func(s *landing.Status) bool { return strings.Contains(strings.Join(s.Notices, "\n"), "report.txt") })
	console.Keep("the report is on the stick")
	f.must(pull())
	report := stick.Read(t, image, "report.txt")
	for _, has := range []string{stickSerial, domain, "198.51.100.10"} {
		if !strings.Contains(report, has) {
			t.Errorf("the report on the stick has no %s:\n%s", has, report)
		}
	}
	t.Log(report)
	for _, name := range []string{"report.json", media.UsedFile} {
		stick.Read(t, image, name)
	}
	if data, err := os.ReadFile(image); err != nil || bytes.Contains(data, sealed) {
		t.Errorf("the site config is still on the stick: %v", err)
	}
	if out, err := exec.CommandContext(f.ctx, "fsck.vfat", "-n", image).CombinedOutput(); err != nil {
		t.Errorf("the stick's file system: %v: %s", err, out)
	}
	f.supports(image)
}

// supports takes support bundles of the landed node: onto its disk, onto a stick, and with the API away and the disk full over its line.
func (f *trip) supports(image string) {
	f.t.Helper()
	const noSecret = "; ! zcat /run/bundle | grep -a " + token
	f.holds(f.shell("touchdown report bundle > /run/bundle; tar -tzf /run/bundle"+noSecret), "node/cluster", "node/missing.txt")
	pull, err := f.Node.Insert(f.ctx, image)
	f.must(err)
	f.t.Log(f.shell("touchdown report bundle --stick"))
	f.must(pull())

	cluster, err := f.Cluster()
	f.must(err)
	f.must(cluster.KillAPI(2 * time.Minute))
	f.shell(`while fallocate -l 64M /var/tmp/full-$((n=n+1)) 2>/dev/null; do :; done; ! head -c 80M /dev/zero > /var/tmp/full 2>/dev/null`)
	f.holds(f.shell("touchdown report bundle > /run/bundle; tar -tzf /run/bundle"+noSecret), "node/missing.txt", "node/cluster")
	text := f.shell("touchdown report bundle --serial | tee /run/summary; touchdown report bundle --read /run/summary > /run/bundle" + noSecret)
	if len(text) > 256<<10 {
		f.t.Errorf("the summary for a line has %d bytes", len(text))
	}
	f.t.Logf("the summary for a line has %d bytes", len(text))
	f.holds(f.shell("tar -tzf /run/bundle"), "journal.jsonl", "")
}

// holds wants the files of a support bundle that come from the node, and no others where hasNot is a part of a name.
func (f *trip) holds(list, has, hasNot string) {
	f.t.Helper()
	f.t.Log(list)
	if !strings.Contains(list, has) || hasNot != "" && strings.Contains(list, hasNot) {
		f.t.Errorf("a bundle needs %s and no %q", has, hasNot)
	}
}

// stick makes the image of a stick with a site config for nobody, and lays what the bake would: the key that is trusted, and the node's own. It
// returns a piece of what is sealed, too.
func (f *trip) stick(config string) (image string, sealed []byte) {
	f.t.Helper()
	key, public := stick.Key(f.t)
	recipient, records := stick.Records(f.t, public)
	lock, err := envelope.NodeLock(recipient)
	f.must(err)
	f.shell("install -d -m 700 " + layout.Media)
	for _, file := range records {
		f.must(f.Node.WriteFile(layout.Media+"/"+file.Name, file.Data, 0o600))
	}
	d := envelope.New(stickSerial)
	d.Unattended = true
	image = filepath.Join(f.t.TempDir(), "stick.img")
	data := stick.Image(f.t, d, config, lock, key)
	f.must(os.WriteFile(image, data, 0o600))
	_, sealed, found := bytes.Cut(data, []byte(`"payload":"`))
	if !found {
		f.t.Fatal("the image of the stick has no payload")
	}
	return image, bytes.Clone(sealed[:512])
}

// waive takes responsibility for what no build machine has, as a person does who then leaves.
func (f *trip) waive() {
	f.t.Helper()
	for _, check := range landing.Waived {
		ctx, cancel := context.WithTimeout(f.ctx, wait.Timeout(time.Minute))
		f.must(f.Do(ctx, session.Action{Verb: session.Waive, Step: "hardware", Check: check, By: "the bench", Reason: "a build machine's hardware"}))
		cancel()
	}
}
