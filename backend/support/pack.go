package support

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"touchdown/backend/layout"
)

// withoutEngine are the files of the state folder that tell what the engine did, secrets masked by it. Answers and originals are not
// among them.
var withoutEngine = []string{"engine.log", layout.JournalFile, filepath.Join(layout.FactoryFolder, layout.JournalFile), "report.txt", "report.json", "hosts.txt", layout.EarlierTranscript, layout.Transcript}

// WithoutEngine is a bundle of a node whose engine does not answer: what its services say, and what the engine left in the folder state.
func WithoutEngine(ctx context.Context, a Asking, state string, now time.Time) ([]byte, error) {
	var all []Part
	names := slices.Clone(withoutEngine)
	for _, path := range LastReturn(state) {
		names = append(names, ReturnPart(path))
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(state, name))
		switch {
		case err == nil:
			all = append(all, Part{Name: name, Data: []byte(Scrub(string(data[max(0, len(data)-mostTail):])))})
		case !errors.Is(err, fs.ErrNotExist):
			all = append(all, Part{Name: name + ".missing.txt", Data: []byte(Scrub(err.Error()))})
		}
	}
	for _, part := range Collect(ctx, a) {
		part.Name = "node/" + part.Name
		all = append(all, part)
	}
	return Pack(all, mostTail, now)
}

// LastReturn are the files that tell of the job at a site with whose end the node came back to the factory, the last one: a node in repair
// has what support needs to know in them. There are none where it never came back.
func LastReturn(state string) (files []string) {
	all := layout.Returns(state)
	if len(all) == 0 {
		return nil
	}
	for _, name := range []string{layout.JournalFile, "sums.jsonl", "site.yaml", "engine.log", "report.txt", "report.json", "hosts.txt", layout.EarlierTranscript, layout.Transcript} {
		files = append(files, filepath.Join(all[len(all)-1], name))
	}
	return files
}

// ReturnPart is what a file of LastReturn is called in a bundle.
func ReturnPart(file string) string {
	folder, name := filepath.Split(file)
	return filepath.Join(layout.ReturnedFolder, filepath.Base(folder), name)
}

// Pack makes an archive of the ends of parts, each of at most limit bytes. What is of use only whole is left out where it is longer.
func Pack(all []Part, limit int, now time.Time) ([]byte, error) {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	files := tar.NewWriter(zip)
	for _, f := range all {
		if len(f.Data) > limit && f.Whole {
			continue
		}
		data := f.Data[max(0, len(f.Data)-limit):]
		header := &tar.Header{Name: "touchdown-bundle/" + f.Name, Mode: 0o600, Size: int64(len(data)), ModTime: now}
		if err := files.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, err)
		}
		if _, err := files.Write(data); err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, err)
		}
	}
	if err := files.Close(); err != nil {
		return nil, fmt.Errorf("packing the support bundle: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("packing the support bundle: %w", err)
	}
	return out.Bytes(), nil
}
