package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/vincent-petithory/dataurl"

	"touchdown/test/bench/landing"
)

// currentConfig is where the Machine Config Operator's daemon keeps what it has brought the node to.
const currentConfig = "/etc/machine-config-daemon/currentconfig"

// ignitionFile is a file in a MachineConfig.
type ignitionFile struct {
	Path     string
	Contents struct{ Source, Compression string }
}

func (f ignitionFile) content() ([]byte, error) {
	if f.Contents.Source == "" {
		return nil, nil
	}
	u, err := dataurl.DecodeString(f.Contents.Source)
	if err != nil {
		return nil, fmt.Errorf("reading its source: %w", err)
	}
	if f.Contents.Compression != "gzip" {
		return u.Data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(u.Data))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return io.ReadAll(z)
}

// drift lists the files of the node's MachineConfig that are not on its disk as the operator laid them: what makes the
// real operator's pool degraded for good.
func drift(ctx context.Context, l *landing.Landing) (files int, drifted []string, err error) {
	data, err := l.Node.ReadFile(currentConfig)
	if err != nil {
		return 0, nil, err
	}
	var mc struct {
		Spec struct {
			Config struct {
				Storage struct{ Files []ignitionFile }
			}
		}
	}
	if err := json.Unmarshal(data, &mc); err != nil {
		return 0, nil, fmt.Errorf("%s: %w", currentConfig, err)
	}
	for _, f := range mc.Spec.Config.Storage.Files {
		want, err := f.content()
		if err != nil {
			return 0, nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		have, err := l.Node.ReadFile(f.Path)
		if err != nil || !bytes.Equal(have, want) {
			drifted = append(drifted, f.Path)
		}
	}
	return len(mc.Spec.Config.Storage.Files), drifted, ctx.Err()
}

// operatorFilesAreTheOperators is rule 7 on a node: each file that the Machine Config Operator owns has the operator's bytes.
func operatorFilesAreTheOperators(t *testing.T, l *landing.Landing) {
	t.Helper()
	files, drifted, err := drift(t.Context(), l)
	if err != nil || files < 5 || len(drifted) > 0 {
		t.Errorf("of %d files of the Machine Config Operator these were changed behind its back: %v, %v", files, drifted, err)
	}
	// What is not the operator's would not show: the test of the test.
	if _, err := l.Node.Shell(t.Context(), "cp -a /etc/default/touchdown-address /run/kept && echo x >> /etc/default/touchdown-address"); err != nil {
		t.Fatal(err)
	}
	if _, drifted, err := drift(t.Context(), l); err != nil || len(drifted) != 1 {
		t.Errorf("a file that was changed shows as %v, %v", drifted, err)
	}
	if _, err := l.Node.Shell(t.Context(), "cp -a /run/kept /etc/default/touchdown-address"); err != nil {
		t.Fatal(err)
	}
}

// daemonFindsNoDrift has the Machine Config Daemon's own code compare the node with its MachineConfig: contents and modes of files,
// units, drop-ins. What it does not like degrades the pool of a real cluster for good.
func daemonFindsNoDrift(ctx context.Context, t *testing.T, l *landing.Landing) {
	t.Helper()
	const program = "/usr/local/bin/decide"
	binary, err := os.ReadFile("../../.cache/bench/bin/decide")
	if err != nil {
		t.Fatalf("%v: run make bench-daemon", err)
	}
	if err := l.Node.WriteFile(program, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	validate := program + " -validate " + currentConfig
	if out, err := l.Node.Shell(ctx, validate+" 2>&1"); err != nil {
		t.Errorf("the daemon finds that the node drifted: %v\n%s", err, out)
	}
	const file = "/etc/default/touchdown-address"
	if _, err := l.Node.Shell(ctx, "chmod 600 "+file+" && ! "+validate+" && chmod 644 "+file); err != nil {
		t.Errorf("a changed mode is not seen: %v", err)
	}
}
