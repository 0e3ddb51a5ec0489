package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// largeTime is how long a large file may take: the program of a release has 60 MiB, and a stick at a socket of USB 1 gives 1 MB/s.
const largeTime = 3 * time.Minute

// replyWithout is the most that the reading process answers behind a large file, in bytes.
const replyWithout = 8 << 10

// ReadLarge reads a file of up to most bytes in the root folder of a volume that Volumes listed, as ReadFiles reads small ones: in a process
// that can do nothing else. It fails with a *problem.Problem. All of the file is in memory then, so that whoever judges it has what was read;
// once, because no more is taken than the list says that it has.
func (w *Watcher) ReadLarge(ctx context.Context, v Volume, name string, most int64) ([]byte, error) {
	at := slices.IndexFunc(v.Files, func(f File) bool { return strings.EqualFold(f.Path, name) })
	if at < 0 {
		return nil, gone(fs.ErrNotExist)
	}
	from, err := w.socket(v.ID)
	if err != nil {
		return nil, err
	}
	listed := min(v.Files[at].Bytes, most)
	device, err := openWithin(w.Limits.Time, func() (*os.File, error) { return openVolume(from.path) })
	if err != nil {
		return nil, err
	}
	defer device.Close()
	ask, err := orderOf(reading{Copy: name, Most: most})
	if err != nil {
		return nil, err
	}
	defer ask.Close()
	out, err := host.Confined{Args: []string{ReaderCommand}, Input: device, Order: ask, Most: listed + replyWithout, Large: true, Time: largeTime}.Run(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("reading the volume: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, &problem.Problem{
			Code: "MED-STRM", Summary: message.F("Reading %s from the volume was stopped: it took too long, or the reader failed.", message.Data(name)),
			Fix: message.T("Put the stick in again, at another socket, or use another stick."), Err: err,
		}
	}
	return largeOf(out, most)
}

// largeOf is the file in what the reading process wrote: the content, and the reply as the last line.
func largeOf(out []byte, most int64) ([]byte, error) {
	out, whole := bytes.CutSuffix(out, []byte("\n"))
	at := bytes.LastIndexByte(out, '\n')
	if !whole || at < 0 {
		return nil, implausible(errors.New("it has no end"))
	}
	var r reply
	switch err := strict(out[at+1:], &r); {
	case err != nil:
		return nil, implausible(err)
	case r.Problem != nil:
		return nil, r.Problem.problem()
	case int64(at) > most:
		return nil, implausible(errors.New("it is larger than was allowed"))
	}
	return out[:at], nil
}

// copyLarge has the reading process write a large file, and the end of the line before its reply.
func copyLarge(device io.ReaderAt, size int64, order reading, out io.Writer) error {
	var broken error
	err := volume.Copy(device, size, order.Copy, order.Most, func(part []byte) error {
		_, broken = out.Write(part)
		return broken
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = gone(err)
	}
	if broken == nil {
		_, broken = io.WriteString(out, "\n")
	}
	return errors.Join(err, broken)
}
