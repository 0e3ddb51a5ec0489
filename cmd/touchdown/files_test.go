package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// givenFiles are all ways by which a person gives the program a file to read: FILE stands for it. GOOD is a site config, KEY a signing key, RELEASE one for releases.
var givenFiles = []string{
	"apply -f FILE", "check hardware -f FILE", "check hardware --order FILE", "factory --unattended -f FILE", "factory --unattended --order FILE",
	"factory --unattended --site FILE", "factory --unattended --media-key FILE", "factory --unattended --release-key FILE", "factory --ledger FILE --unattended", "factory --unattended --second-key FILE", "factory --unattended --second-key PUB --revoked FILE", "factory --console-pin-file FILE",
	"factory bake --media-key FILE --out OUT", "factory bake --release-key FILE --out OUT", "factory bake --console-pin-file FILE --out OUT",
	"certificates replace --api-cert FILE --api-key GOOD", "certificates replace --api-cert GOOD --api-key FILE", "certificates replace --ingress-ca FILE",
	"certificates replace --ingress-cert FILE --ingress-key GOOD", "certificates replace --ingress-cert GOOD --ingress-key FILE",
	"inventory --replay FILE", "iso embed FILE --in-place --karg-append a", "iso embed GOOD --in-place --ignition FILE",
	"iso embed GOOD --in-place --network-keyfile FILE", "iso embed GOOD --in-place --install-ignition FILE --install-disk only",
	"iso embed GOOD --in-place --install-ignition GOOD --install-disk only --site FILE --site-serial SN1",
	"iso embed GOOD --in-place --install-ignition GOOD --install-disk only --site GOOD --site-serial SN1 --site-passphrase-file FILE", "iso show FILE", "ledger verify FILE", "ledger wiped FILE GOOD", "ledger wiped GOOD FILE",
	"media revoke 0123456789abcdef --list FILE", "media show FILE", "media show GOOD --trust FILE", "media show GOOD --used FILE",
	"media show GOOD --trust PUB --revoked FILE", "media show GOOD --secret-file FILE", "check cluster --kubeconfig FILE",
	"media write -f FILE --any-serial --key KEY OUT", "media write -f GOOD --any-serial --key FILE OUT",
	"media write -f GOOD --any-serial --key KEY --passphrase-file FILE OUT", "media write -f GOOD --any-serial --key KEY --revoked FILE OUT",
	"media write --table FILE --key KEY --out OUT", "media write --release FILE OUT",
	"media write --release GOOD --unattended --serial SN1 --key FILE OUT", "media write --release GOOD --unattended --serials FILE --key RELEASE OUT",
	"report bundle --read FILE", "report export FILE", "report diff FILE FILE", "report verify FILE", "report verify GOOD --previous FILE", "report verify GOOD --second-key FILE", "report verify GOOD --key FILE", "report verify GOOD --ledger FILE",
	"report countersign FILE --key KEY --out OUT", "site validate FILE", "site import FILE",
}

// notRead are the flags with a text that names no file which is read. That of second-sign is read at the seal, by envelope.ReadSecret.
var notRead = strings.Fields("statement since output socket state out snapshot serial returned from node format recipient new-passphrase by waive withdraw reason address list-file stick from-stick sha256 serve " +
	"shared-identity burn-in second second-sign karg-append karg-delete karg-replace " +
	"install-disk install-overwrite install-karg-append install-karg-delete install-program install-program-hash site-serial console color language template")

// hostileFiles are what may lie under a name that a person gives.
func hostileFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	large, err := os.OpenFile(in("large"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = large.Truncate(10 << 30)
	}
	if err == nil {
		err = large.Close()
	}
	for _, e := range []error{err, os.Mkdir(in("folder"), 0o700), unix.Mkfifo(in("pipe"), 0o600)} {
		if e != nil {
			t.Fatal(e)
		}
	}
	return map[string]string{"a pipe": in("pipe"), "a folder": in("folder"), "a device": os.DevNull, "an endless device": "/dev/zero", "10 GiB": in("large"), "nothing": in("none")}
}

// TestFilesThatAreNone: no command waits for a pipe, reads a device or a file without an end, or takes a folder for a file. A file that does
// not exist is a wrong command line for each of them.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	root := newRoot(hooks{})
	root.SetOut(&bytes.Buffer{})
	execute(t.Context(), root, []string{"media", "keygen", key})
	execute(t.Context(), root, []string{"media", "keygen", "--release", key + "2"})
	names := strings.NewReplacer("GOOD", "../../test/sites/store.yaml", "RELEASE", key+"2.key", "KEY", key+".key", "PUB", key+".pub", "OUT", filepath.Join(dir, "out"))
	for what, file := range hostileFiles(t) {
		for _, line := range givenFiles {
			args := strings.Fields(strings.ReplaceAll(names.Replace(line), "FILE", file))
			if what == "a folder" && strings.Contains(line, "--table") || what == "nothing" && (strings.Contains(line, "--list") || strings.Contains(line, "--ledger")) { // they are meant
				continue
			}
			var out, complaints bytes.Buffer
			root := newRoot(hooks{root: dir})
			root.SetOut(&out)
			root.SetErr(&complaints)
			root.SetIn(strings.NewReader(""))
			code := execute(t.Context(), root, append(args, "--socket", filepath.Join(dir, "none")))
			if code == 0 || complaints.Len() == 0 {
				t.Errorf("%s: touchdown %s: exit %d, %q", what, line, code, complaints.String())
			}
			if what == "nothing" && code != exitUsage && strings.Contains(complaints.String(), file) {
				t.Errorf("a file that does not exist: touchdown %s: exit %d, %q", line, code, complaints.String())
			}
		}
	}
}

// TestEveryFileIsTested: a new flag is named here, as one that reads a file or one that does not.
func TestEveryFileIsTested(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.HasPrefix(f.Value.Type(), "string") || slices.Contains(notRead, f.Name) {
				return
			}
			named := func(line string) bool {
				return strings.Contains(line+" ", " --"+f.Name+" FILE ") || f.Shorthand != "" && strings.Contains(line+" ", " -"+f.Shorthand+" FILE ")
			}
			if !slices.ContainsFunc(givenFiles, named) {
				t.Errorf("%s --%s: is it a file that is read?", c.CommandPath(), f.Name)
			}
		})
		for _, child := range c.Commands() {
			visit(child)
		}
	}
	visit(newRoot(hooks{}))
}

// TestReplayFromStandardInput: - is standard input, here as everywhere.
func TestReplayFromStandardInput(t *testing.T) {
	var complaints bytes.Buffer
	root := newRoot(hooks{})
	root.SetOut(&bytes.Buffer{})
	root.SetErr(&complaints)
	root.SetIn(strings.NewReader("no snapshot"))
	if code := execute(t.Context(), root, []string{"inventory", "--replay", "-"}); code == 0 || !strings.Contains(fmt.Sprint(complaints.String()), "PRT-SNAP") {
		t.Errorf("exit %d, %s", code, complaints.String())
	}
}

// TestStandardInputIsReadOnce: a second file that is given as - would be empty, and a list of revoked keys would revoke none.
func TestStandardInputIsReadOnce(t *testing.T) {
	cmd := &cobra.Command{}
	cmd.SetIn(strings.NewReader("a list"))
	if first, err := readGiven(cmd, "-", 100); err != nil || string(first) != "a list" {
		t.Fatalf("%q, %v", first, err)
	}
	if second, err := readNamed(cmd, "revoked", "-", 100); err == nil || !strings.Contains(err.Error(), "read already") {
		t.Errorf("%q, %v", second, err)
	}
}
