package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/media/volume"
)

// ServeWriter is the writing process: it adds the files of the order to the volume on the open file in, and writes what it did to out.
func ServeWriter(in, ordered *os.File, out io.Writer) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("asking for the size of the volume: %w", err)
	}
	debug.SetMemoryLimit(readerMemory)
	if err := host.Confine(host.Limits{CPUSeconds: uint64(writerCPU / time.Second), Memory: readerMemory, Writes: uint64(size)}); err != nil {
		return err
	}
	var o order
	if err := readOrder(ordered, &o); err != nil {
		return err
	}
	w := carryOut(in, size, o)
	if err := json.NewEncoder(out).Encode(w); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// carryOut adds the files and overwrites the document, where that is the right one. The files come first: they tell what became of it. One
// that has no room for them is overwritten all the same.
func carryOut(device *os.File, size int64, o order) (w written) {
	if len(o.Document) > 0 {
		if err := sameDocument(device, size, o.Document); err != nil {
			w.Problem = tellOf(err)
			return w
		}
	}
	if len(o.Files) > 0 {
		var err error
		if w.Names, err = volume.Add(device, size, o.Files); err != nil {
			w.Problem = tellOf(err)
		}
	}
	if o.Overwrite {
		found, err := volume.Overwrite(device, size, EnvelopeFile)
		if err == nil && !found { // it was read a moment before
			err = exchanged()
		}
		if w.Gone = err == nil; err != nil {
			w.Stays = tellOf(err)
		}
	}
	return w
}

// sameDocument fails unless the volume has the document with a sum.
func sameDocument(device *os.File, size int64, document []byte) error {
	content, err := volume.Read(device, size, func(path string) bool { return strings.EqualFold(path, EnvelopeFile) })
	if err != nil {
		return err
	}
	e := content.Find(EnvelopeFile)
	if e == nil {
		return exchanged()
	}
	if sum := sha256.Sum256(e.Data); !bytes.Equal(sum[:], document) {
		return exchanged()
	}
	return nil
}
