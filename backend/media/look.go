package media

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// look reads the volumes, unless all are those that it knows; with again it reads them all the same. What was read is judged each
// time: the node may have used a medium meanwhile.
func (w *Watcher) look(ctx context.Context, want Want, again bool) error {
	all, err := devices(w.known.machine)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.blind = true
		return err
	}
	var now []string
	for _, d := range all {
		now = append(now, d.is)
	}
	w.mu.Lock()
	same := !again && want == w.last && slices.Equal(now, w.seen)
	found, bring := slices.Clone(w.found), w.bring // whoever was given the other one goes on reading it
	w.mu.Unlock()
	if !same {
		found, bring = w.readAll(ctx, all)
	}
	if found = withBaked(w.known, found); !want.Sites {
		found = nil
	}
	if !want.Releases {
		bring = nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range found {
		found[i] = w.judged(found[i])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.found, w.bring, w.last, w.blind = now, found, bring, want, false
	return nil
}

// same tells whether both are one medium: an image that is a disk and its first partition, too.
func (f *Medium) same(o *Medium) bool { return f.signed != nil && bytes.Equal(f.signed, o.signed) }

// judged is a medium by what the node knows now.
func (w *Watcher) judged(f *Medium) *Medium {
	if f.signed == nil {
		return f
	}
	now := &Medium{Device: f.Device, Label: f.Label, baked: f.baked, signed: f.signed}
	d, signer, err := w.known.verify(f.signed, f.baked)
	if d != nil {
		now.id = d.ID
	}
	if err != nil {
		now.Refused = problem.From(err)
		return now
	}
	now.document, now.Signer = d, signer
	return now
}

// readAll reads the media of the devices, and lists those with a release.
func (w *Watcher) readAll(ctx context.Context, all []device) (found []*Medium, bring []Volume) {
	w.each(all, func(d device, within time.Duration) int64 {
		f, release, bytes := w.read(ctx, d, within)
		if release != nil {
			bring = append(bring, *release)
		}
		if f == nil {
			return bytes
		}
		if i := slices.IndexFunc(found, f.same); i >= 0 {
			found[i].twin = found[i].twin || found[i].disk != f.disk
		} else {
			found = append(found, f)
		}
		return bytes
	}, func(disk string, volumes int) { found = append(found, unreadOf(disk, volumes)) })
	return found, bring
}

// notOurs are the problems of what is not a site medium: an empty drive, one without a device file, a stick with something else on it. Nobody
// is told of them. A drive that this process may not open is another matter: a person put it in, and waits for what is on it.
var notOurs = []string{"MED-BLNK", "MED-DEAD", "MED-KND"}

// read reads a device within a time, and tells how many bytes of it; nil where it holds nothing for a node. What was read stays in
// memory: what is used later is what was judged, whatever becomes of the medium. The files of a release are only listed.
func (w *Watcher) read(ctx context.Context, d device, within time.Duration) (f *Medium, release *Volume, bytes int64) {
	f = &Medium{Device: d.name, disk: d.disk}
	content, bytes, err := inspectAt(ctx, d.path, within, siteFiles())
	if err != nil {
		f.Refused = problem.From(err)
		if slices.Contains(notOurs, f.Refused.Code) && !errors.Is(err, fs.ErrPermission) {
			return nil, nil, bytes
		}
		return f, nil, bytes
	}
	f.Label, f.path, f.kind = content.Label, d.path, content.Kind
	release = releaseOn(d, content, w)
	switch signed := content.Find(EnvelopeFile); {
	case signed != nil:
		f.signed = append([]byte{}, signed.Data...) // an empty file, too, is one that has to be refused
	case content.Find(PlainFile) != nil:
		f.Refused = &problem.Problem{
			Code: "MED-NSGN", Summary: message.T("The site config on the medium is not signed."),
			Fix: message.T("Make the medium with touchdown media write, or enter the answers at the console."),
		}
	default:
		return nil, release, bytes
	}
	return f, release, bytes
}

// releaseOn is a volume with its files of a release; nil where one is missing.
func releaseOn(d device, content *volume.Content, w *Watcher) *Volume {
	v := Volume{ID: d.is, Device: d.name, Name: d.name}
	if v.list(content); len(w.Release) == 0 || !v.Has(w.Release...) {
		return nil
	}
	names := slices.Concat(w.Release, w.Beside)
	v.Files = slices.DeleteFunc(v.Files, func(f File) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(f.Path, name) })
	})
	return &v
}
