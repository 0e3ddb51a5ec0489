package media

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// ReaderCommand is the command by which the program reads a volume on its standard input: Serve.
const ReaderCommand = "media-reader"

// What the process that reads a volume may use. Its work is bounded by the time of the processor. By the clock it has more: a node
// that starts keeps its processors busy for minutes, and a stick that waits for one of them is not a bad stick. That bound is for a drive
// that stops answering.
const (
	readerCPU    = 10 * time.Second
	readerTime   = time.Minute
	readerMemory = 32 << 20 // bytes beyond what the program has when it begins, which is 20 MiB and the stacks of its threads, nearly unused: less than 64 MiB in all
	readerReply  = 8 << 20  // bytes: volume.MaxContent in base64, and the list of files
)

// reading is what the reading process is told.
type reading struct {
	Files wants  `json:"files,omitempty"` // whose content is read
	Copy  string `json:"copy,omitempty"`  // a large file of the root folder, whose content comes before the reply
	Most  int64  `json:"most,omitempty"`  // bytes that it may have
}

// reply is what the reading process answers.
type reply struct {
	Content *volume.Content `json:"content,omitempty"`
	Problem *told           `json:"problem,omitempty"`
	Bytes   int64           `json:"bytes"` // that were read of the volume
}

// tellOf is a problem for the process that asked.
func tellOf(err error) *told {
	p := problem.From(err)
	t := &told{Code: p.Code, Summary: p.Summary, Fix: p.Fix, Cause: message.Detail(p.Err)}
	if messages, err := json.Marshal(message.Of(t)); err == nil {
		t.Messages = messages
	}
	return t
}

// maxMessages bounds what makes messages of the texts of a problem, in bytes; the longest of ours need one in ten of it.
const maxMessages = 4 << 10

// problem is what was told, of a length that can be shown. Each text has its message where it says the same; else it is English, as
// the process that told it could write anything.
func (t *told) problem() *problem.Problem {
	var messages message.Messages
	if len(t.Messages) <= maxMessages && json.Unmarshal(t.Messages, &messages) == nil {
		message.Restore(t, messages)
	}
	p := &problem.Problem{Code: cut(t.Code, 8), Summary: short(t.Summary), Fix: short(t.Fix)}
	if t.Cause != (message.Text{}) {
		p.Err = message.Failed(message.OrVerbatim(short(t.Cause)))
	}
	return p
}

// short is a text of a length that can be shown.
func short(t message.Text) message.Text {
	return t.Map(func(text string) string { return cut(text, 500) })
}

// counted counts what is read of a device.
type counted struct {
	io.ReaderAt
	bytes int64
}

// ReadAt implements io.ReaderAt.
func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, at)
	c.bytes += int64(n)
	return n, err //nolint:wrapcheck // it is the device's
}

type told struct {
	Code     string          `json:"code"`
	Summary  message.Text    `json:"summary"`
	Fix      message.Text    `json:"fix"`
	Cause    message.Text    `json:"cause,omitzero"`
	Messages json.RawMessage `json:"messages,omitempty"` // read by problem alone, which bounds it
}

// Inspect reads the volume at a path, a block device or an image, in a process that can do nothing else. It does not write, mount
// or follow anything on it. It fails with a *problem.Problem.
func Inspect(ctx context.Context, path string) (*volume.Content, error) {
	content, _, err := inspectAt(ctx, path, readerTime, siteFiles())
	return content, err
}

func inspectAt(ctx context.Context, path string, within time.Duration, want wants) (content *volume.Content, bytes int64, err error) {
	device, err := openWithin(within, func() (*os.File, error) { return openVolume(path) })
	if err != nil {
		return nil, 0, err
	}
	defer device.Close()
	return inspect(ctx, device, within, want)
}

// openWithin opens a volume, and waits no longer than a time: the kernel asks the drive, and a dying one may not answer. What opens late is
// closed.
func openWithin(within time.Duration, open func() (*os.File, error)) (*os.File, error) {
	type answer struct {
		device *os.File
		err    error
	}
	done := make(chan answer)
	given := make(chan struct{})
	defer close(given)
	go func() {
		device, err := open()
		select {
		case done <- answer{device, err}:
		case <-given:
			_ = device.Close() // of nil, too
		}
	}()
	select {
	case a := <-done:
		return a.device, a.err
	case <-time.After(within):
		return nil, &problem.Problem{Code: "MED-DEAD", Summary: message.T("The volume cannot be opened: its drive does not answer."), Fix: message.T("Take it out, or use another drive.")}
	}
}

// inspect reads a volume that is open within a time, with the content of the wanted files, and tells how many bytes of it were read. A
// reader that was stopped counts as the most that a disk may cost, since what it read is not known.
func inspect(ctx context.Context, device *os.File, within time.Duration, want wants) (content *volume.Content, bytes int64, err error) {
	ask, err := orderOf(reading{Files: want})
	if err != nil {
		return nil, 0, err
	}
	defer ask.Close()
	out, err := host.Confined{Args: []string{ReaderCommand}, Input: device, Order: ask, Most: readerReply, Time: within}.Run(ctx)
	if ctx.Err() != nil {
		return nil, 0, fmt.Errorf("reading the volume: %w", context.Cause(ctx))
	}
	if err != nil {
		return nil, unknownBytes, &problem.Problem{
			Code: "MED-HALT", Summary: message.T("Reading the volume was stopped: it took more time or memory than a site medium needs, or the reader failed."),
			Fix: message.T("Write it again with touchdown media write, or use another stick."), Err: err,
		}
	}
	return understand(out, want)
}

func openVolume(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &problem.Problem{Code: "MED-DEAD", Summary: message.T("The volume cannot be opened."), Fix: message.T("Check its name, and run the command as a user who may read it."), Err: err}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() && info.Mode().Type() != os.ModeDevice {
		_ = f.Close()
		return nil, &problem.Problem{Code: "MED-DEAD", Summary: message.F("%s is neither a block device nor an image file.", path), Fix: message.T("Name a volume, for example /dev/sdb1, or an image."), Err: err}
	}
	return f, nil
}

// Serve is the reading process: it reads the volume on the open file in, with the files of the order, and writes the reply to out.
func Serve(in, ordered *os.File, out io.Writer) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("asking for the size of the volume: %w", err)
	}
	debug.SetMemoryLimit(readerMemory) // the collector works harder before the limit is met
	if err := host.Confine(host.Limits{CPUSeconds: uint64(readerCPU / time.Second), Memory: readerMemory}); err != nil {
		return err
	}
	var order reading
	if err := readOrder(ordered, &order); err != nil {
		return err
	}
	var r reply
	device := &counted{ReaderAt: in}
	if order.Copy != "" {
		err = copyLarge(device, size, order, out)
	} else {
		r.Content, err = volume.Read(device, size, order.Files.has)
	}
	if err != nil {
		r.Problem = tellOf(err)
	}
	r.Bytes = device.bytes
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// understand reads a reply. A volume that took the reading process over could have written it, so that it is judged again.
func understand(out []byte, want wants) (content *volume.Content, bytes int64, err error) {
	bad := func(err error) (*volume.Content, int64, error) { return nil, unknownBytes, implausible(err) }
	var r reply
	if err := strict(out, &r); err != nil {
		return bad(err)
	}
	if r.Bytes < 0 {
		return bad(errors.New("the number of bytes that were read"))
	}
	if p := r.Problem; p != nil {
		return nil, r.Bytes, p.problem()
	}
	if r.Content == nil {
		return bad(errors.New("it has no content"))
	}
	if err := plausible(r.Content, want); err != nil {
		return bad(err)
	}
	return r.Content, r.Bytes, nil
}

// implausible is the problem of an answer that the reading process has no reason to give.
func implausible(err error) error {
	return &problem.Problem{Code: "MED-HALT", Summary: message.T("The volume's reader returned what no such volume can contain."), Fix: message.T("Do not use the volume, and tell your security contact."), Err: err}
}

// strict reads a confined process's answer, without keys that it has no reason to write.
func strict(out []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	return nil
}

func plausible(c *volume.Content, want wants) error {
	total := 0
	if len(c.Entries) > volume.MaxEntries || len(c.Label) > 255 || c.Label != "" && host.FileName(c.Label) != nil || len(c.Kind) > 16 {
		return errors.New("its kind, label or number of files")
	}
	for _, e := range c.Entries {
		if total += len(e.Data); e.Size < 0 {
			return errors.New("the size of a file")
		}
		for part := range strings.SplitSeq(e.Path, "/") {
			if err := host.FileName(part); err != nil {
				return err
			}
		}
		if len(e.Data) > 0 && (!want.has(e.Path) || int64(len(e.Data)) != e.Size || e.Folder) || total > volume.MaxContent {
			return errors.New("the content of a file that was not asked for")
		}
	}
	return nil
}

func cut(text string, n int) string { return text[:min(len(text), n)] }
