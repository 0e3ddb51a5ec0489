package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"touchdown/backend/hardware"
	"touchdown/backend/host"
	"touchdown/backend/report"
	"touchdown/backend/support"
	"touchdown/steps/offered"
	"touchdown/steps/session"
)

// bundleTail bounds what the support bundle takes of each file, so that it fits a small stick.
const bundleTail = 16 << 20

// tail returns the last limit bytes of a file, from the beginning of a line.
func tail(path string, limit int64) ([]byte, error) {
	f, err := openKept(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-limit)
	data := make([]byte, info.Size()-from)
	n, err := f.ReadAt(data, from)
	if n < len(data) {
		data = data[:n]
	} else if err != nil {
		return nil, err
	}
	if from > 0 {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			data = data[i+1:]
		}
	}
	return data, nil
}

// Export implements Session.
func (e *Engine) Export(ctx context.Context, what session.Document) ([]byte, error) {
	switch kind, volume, _ := strings.Cut(string(what), "/"); {
	case session.Document(kind) == session.BundleOnStick && e.o.Media != nil:
		if err := e.idle.May(ctx); err != nil { // it writes
			return nil, err
		}
		return alone(ctx, e, ontoStick(volume))
	case kind == offered.Begin, kind == offered.End:
		return exportOffer(ctx, e, kind, string(what))
	}
	switch what {
	case session.ReportText, session.ReportJSON, session.SignedReport, report.HostsFile:
		data, err := readKept(e.folder.path(string(what)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: there is no report yet; it is written by the last step", session.ErrNotFound)
		}
		return data, err
	case session.Answers:
		e.mu.Lock()
		defer e.mu.Unlock()
		cfg, _ := e.core.draft.effective() // answers that another one hides may be refused beside it where the document is read
		return cfg.Marshal(true)
	case session.Bundle:
		return alone(ctx, e, bundle)
	case session.Document(support.Summary):
		return alone(ctx, e, summary)
	case session.SummaryText:
		archive, err := alone(ctx, e, summary)
		if err != nil {
			return nil, err
		}
		return support.Serial(archive, "")
	case session.Inventory, session.InventoryPage:
		found, _, err := inventory(ctx, e.o.Node.Host, e.now)
		switch {
		case err != nil:
			return nil, err
		case what == session.Inventory:
			return []byte(found.Text()), nil
		}
		return found.Page().Marshal()
	}
	return nil, fmt.Errorf("%w: there is no document %q", session.ErrNotFound, what)
}

// inventory looks at the machine, and returns what it is made of, and a snapshot to replay.
func inventory(ctx context.Context, m *host.Machine, now func() time.Time) (found *hardware.Inventory, replay []byte, err error) {
	if m == nil {
		return nil, nil, fmt.Errorf("%w: this engine has no machine", session.ErrNotFound)
	}
	var packed bytes.Buffer
	i, err := hardware.Snapshot(ctx, m, hardware.Options{Now: now}, &packed)
	if err != nil {
		return nil, nil, err
	}
	return i, packed.Bytes(), nil
}
