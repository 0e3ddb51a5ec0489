package steps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/progress"
	"touchdown/backend/registry"
	"touchdown/backend/trust"
	"touchdown/steps/site"
)

// siteTrust puts the site's authorities and credentials on the node's disk before anything is pulled with them. What the Machine Config
// Operator owns is left to it: nodeConfig and sitePullSecret bring the same through the cluster.
type siteTrust struct{ Site *site.Config }

var (
	_ Skipper = (*siteTrust)(nil)
	_ Planner = (*siteTrust)(nil)
	_ Undoer  = (*siteTrust)(nil)
	_ Reader  = (*siteTrust)(nil)
)

// ID names the step in the journal.
func (*siteTrust) ID() string { return "trust" }

// Title says what the step does.
func (*siteTrust) Title() message.Text { return message.T("Trust the site's registries") }

// Reads names what is put on disk.
func (*siteTrust) Reads() []string {
	return []string{"spec.additionalTrustBundle", "spec.ingressCert.ca", "spec.registryCerts", "spec.pullSecret"}
}

// Skip applies where the site brings nothing of it.
func (s *siteTrust) Skip() message.Text {
	p := s.Site.Spec
	if p.AdditionalTrustBundle == "" && p.IngressCert.CA == "" && len(p.RegistryCerts) == 0 && p.PullSecret == "" {
		return message.T("the site brings no authorities or credentials")
	}
	return message.Text{}
}

// Plan names the files. What is in them, the steps tell that bring the same to the cluster.
func (s *siteTrust) Plan(_ context.Context, node *backend.Node) (Plan, error) {
	files, err := s.pending(node)
	if err != nil {
		return Plan{}, fmt.Errorf("comparing with the node's files: %w", err)
	}
	var paths []string
	for _, f := range files {
		if f.Held == (message.Text{}) {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return Plan{}, nil
	}
	return Plan{Changes: []Change{{What: message.T("Files of the node, before the cluster starts"), New: message.Data(strings.Join(paths, ", "))}}}, nil
}

// Run writes what differs and has the node trust it.
func (s *siteTrust) Run(ctx context.Context, node *backend.Node, report Report) error {
	files, err := s.pending(node)
	if err != nil {
		return fmt.Errorf("comparing with the node's files: %w", err)
	}
	o := newFileOriginals(report)
	if _, err := trust.Write(node.Host, files, o.save); err != nil {
		return fmt.Errorf("writing the site's authorities: %w", err)
	}
	for _, f := range files {
		if f.Held != (message.Text{}) {
			report.Say(message.F("%s is not written here: %s.", f.Path, f.Held))
		}
	}
	if bundle := s.bundle(); bundle != "" && host.HasKubelet(node.Host) {
		if err := s.refresh(ctx, node, report, bundle); err != nil {
			return err
		}
	}
	report.Check(check.Check{
		ID: "trust-files", Title: message.T("Authorities and credentials on the node's disk"), Status: check.Pass,
		Observed: message.F("%d written, %d left to the cluster", len(files)-held(files), held(files)),
	})
	return nil
}

// refresh runs until it went well for this bundle, which is the one that the node trusts from then on: a power cut may have come after the
// file was written.
func (s *siteTrust) refresh(ctx context.Context, node *backend.Node, report Report, bundle string) error {
	sum := sha256.Sum256([]byte(bundle))
	now, _, err := notedAt(report, "trusted")
	if err != nil || bytes.Equal(now, sum[:]) {
		return err
	}
	// Half of a refresh may make the node trust this bundle and no longer the one before.
	if err := report.Note("trusted", []byte("changing")); err != nil {
		return fmt.Errorf("noting that the authorities change: %w", err)
	}
	report.Progress(progress.Progress{Waiting: message.T("the node to take the site's authorities")})
	if err := trust.Refresh(ctx, node.Host); err != nil {
		return err
	}
	if err := report.Note("trusted", sum[:]); err != nil {
		return fmt.Errorf("noting that the authorities are trusted: %w", err)
	}
	return nil
}

// Undo puts the files back and has the node forget what it trusted.
func (s *siteTrust) Undo(ctx context.Context, node *backend.Node, report Report) error {
	err := report.Note("trusted", []byte("changing")) // a start after this undo has the node take the bundle again
	refresh := false
	if err == nil {
		refresh, err = newFileOriginals(report).restore(node)
	}
	if err == nil && refresh {
		err = trust.Refresh(ctx, node.Host)
	}
	if err != nil {
		return fmt.Errorf("putting the node's files back: %w", err)
	}
	return nil
}

func (s *siteTrust) pending(node *backend.Node) ([]trust.File, error) {
	if !host.HasKubelet(node.Host) {
		return nil, nil // not the node: its trust is its owner's business
	}
	w := trust.Want{Bundle: s.bundle()}
	for _, ca := range s.Site.Spec.RegistryCerts {
		w.Registries = append(w.Registries, trust.Registry{Host: ca.RegistryHostname, Port: ca.RegistryPort, PEM: ca.Certificate})
	}
	if secret := []byte(string(s.Site.Spec.PullSecret)); len(secret) > 0 {
		w.PullSecret = func(now []byte) ([]byte, error) {
			merged, _, err := registry.Merge(now, secret)
			return merged, err
		}
	}
	return trust.Pending(node.Host, w)
}

func (s *siteTrust) bundle() string {
	return nodeconfig.MergePEM("", s.Site.Spec.AdditionalTrustBundle, s.Site.Spec.IngressCert.CA)
}

func held(files []trust.File) int {
	return len(slices.DeleteFunc(slices.Clone(files), func(f trust.File) bool { return f.Held == (message.Text{}) }))
}

// fileOriginals are the files that a step saves, in the order of its changes.
type fileOriginals struct{ series }

func newFileOriginals(report Report) fileOriginals { return fileOriginals{series{report, "file"}} }

type savedFile struct {
	Path    string      `json:"path"`
	Existed bool        `json:"existed"`
	Content []byte      `json:"content"`
	Mode    fs.FileMode `json:"mode"`
}

func (o fileOriginals) files() (files []savedFile, next int, err error) {
	all, next, err := o.all()
	if err != nil {
		return nil, 0, err
	}
	files = make([]savedFile, len(all))
	for i, b := range all {
		if err := json.Unmarshal(b, &files[i]); err != nil {
			return nil, 0, fmt.Errorf("reading saved file %d of %d: %w", i+1, len(all), err)
		}
	}
	return files, next, nil
}

// save keeps only the first original of a path: later ones are our own work.
func (o fileOriginals) save(original trust.File) error {
	all, next, err := o.files()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f savedFile) bool { return f.Path == original.Path }) {
		return nil
	}
	b, err := json.Marshal(savedFile{original.Path, original.Content != nil, original.Content, original.Mode})
	if err != nil {
		return fmt.Errorf("encoding %s: %w", original.Path, err)
	}
	return o.report.Save(o.key(next), b)
}

func (o fileOriginals) restore(node *backend.Node) (refresh bool, err error) {
	all, _, err := o.files()
	if err != nil {
		return false, err
	}
	for _, f := range slices.Backward(all) {
		content := f.Content
		if f.Existed && content == nil {
			content = []byte{}
		}
		anchor, err := trust.Restore(node.Host, trust.File{Path: f.Path, Content: content, Mode: f.Mode})
		if err != nil {
			return refresh, err
		}
		refresh = refresh || anchor
	}
	return refresh, nil
}
