package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"touchdown/backend/layout"
	"touchdown/backend/media/volume"
	"touchdown/backend/problem"
	"touchdown/backend/support"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
)

// summaryTail is what a summary takes of each file at most; less, when the whole would not fit a serial line.
const summaryTail = 64 << 10

// bundle packs what support needs: what Touchdown knows, and what the node's services and the cluster say.
func bundle(ctx context.Context, e *Engine) ([]byte, error) {
	files, err := gather(ctx, e, bundleTail)
	if err != nil {
		return nil, err
	}
	return support.Pack(files, bundleTail, e.now())
}

// summaryLife is for how long the same summary is given again: a second try over a noisy line fills the gaps of the first.
const summaryLife = time.Hour

// made is a summary, and when it was made.
type made struct {
	archive []byte
	at      time.Time
}

// summary is a bundle that fits a serial line: the end of each text, and nothing else.
func summary(ctx context.Context, e *Engine) ([]byte, error) {
	if m := e.summary; m.archive != nil && e.now().Sub(m.at) < summaryLife {
		return m.archive, nil
	}
	files, err := gather(ctx, e, summaryTail)
	if err != nil {
		return nil, err
	}
	archive, err := packWithin(files, summaryTail, e.now(), func(archive []byte) bool {
		text, err := support.Serial(archive, "")
		return err == nil && len(text) <= support.MaxSerial
	})
	if err == nil {
		e.summary = made{archive, e.now()}
	}
	return archive, err
}

// ontoStick makes a bundle that fits a stick, and writes it to the one with a name, or to the only one; it tells where as JSON (chosen.Saved).
func ontoStick(name string) func(context.Context, *Engine) ([]byte, error) {
	return func(ctx context.Context, e *Engine) ([]byte, error) {
		var saved chosen.Saved
		left, err := e.o.Media.Put(ctx, name, func() ([]volume.File, error) {
			files, err := gather(ctx, e, bundleTail)
			if err != nil {
				return nil, err
			}
			archive, err := packWithin(files, bundleTail, e.now(), func(archive []byte) bool { return len(archive) <= volume.MaxFile })
			saved.Bytes, saved.SHA256 = len(archive), fmt.Sprintf("%x", sha256.Sum256(archive))
			return []volume.File{{Name: "touchdown-support.tar.gz", Data: archive}}, err
		})
		if err != nil && problem.From(err).Code == "MED-LACK" {
			return nil, fmt.Errorf("%w: %w", session.ErrNotFound, err) // a console tells it from what failed
		}
		if err != nil {
			return nil, err
		}
		saved.Volume, saved.File = left.Medium, left.Files[0]
		e.o.Node.Log.Info("a support bundle was written to a stick", "medium", saved.Volume, "file", saved.File, "sha256", saved.SHA256)
		return json.Marshal(saved)
	}
}

// packWithin takes less of each text until the archive fits.
func packWithin(files []support.Part, limit int, now time.Time, fits func([]byte) bool) ([]byte, error) {
	for ; ; limit /= 2 {
		archive, err := support.Pack(files, limit, now)
		if err != nil || limit == 1 || fits(archive) {
			return archive, err
		}
	}
}

// alone makes one bundle at a time: each is in memory whole, and the engine has little.
func alone(ctx context.Context, e *Engine, make func(context.Context, *Engine) ([]byte, error)) ([]byte, error) {
	if !e.packing.TryLock() {
		return nil, fmt.Errorf("%w: a support bundle is being made already; try again in a minute", session.ErrState)
	}
	defer e.packing.Unlock()
	return make(ctx, e)
}

// gather reads the files of a bundle. All of it is in memory: the disk may be full. Originals and secrets stay out; the rest is masked
// once more.
func gather(ctx context.Context, e *Engine, limit int) ([]support.Part, error) {
	snapshot, err := e.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	snapshot.Volumes, snapshot.Offer = nil, nil // a person's files are nobody's business, and neither is where another bundle lies
	text, err := json.MarshalIndent(snapshot, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the snapshot: %w", err)
	}
	var files []support.Part
	add := func(name string, data []byte) {
		files = append(files, support.Part{Name: name, Data: []byte(support.Scrub(e.mask.Mask(string(data))))})
	}
	add("snapshot.json", text)
	add(layout.Transcript, e.shown.Read(limit))
	add("made-at.txt", []byte(e.now().Format(time.RFC3339)+"\n"))
	for _, path := range []string{layout.JournalFile, "sums.jsonl", "site.yaml", "report.txt", "report.json", "hosts.txt"} {
		if data, err := tail(e.folder.path(path), int64(limit)); err == nil {
			add(path, data)
		}
	}
	if data, err := tail(e.o.LogFile, int64(limit)); err == nil {
		add(filepath.Base(e.o.LogFile), data)
	}
	for _, path := range support.LastReturn(e.o.Node.Host.Path(layout.State)) {
		if data, err := tail(path, int64(limit)); err == nil {
			add(support.ReturnPart(path), data)
		}
	}
	if found, replay, err := inventory(ctx, e.o.Node.Host, e.now); err == nil {
		add("inventory.txt", []byte(found.Text()))
		files = append(files, support.Part{Name: "inventory.tar.gz", Data: replay, Whole: true})
	}
	for _, part := range support.Collect(ctx, support.Asking{Host: e.o.Node.Host, Kube: e.o.Node.Kube, Mask: e.mask.Mask, Tail: limit}) {
		files = append(files, support.Part{Name: "node/" + part.Name, Data: part.Data})
	}
	return files, nil
}
