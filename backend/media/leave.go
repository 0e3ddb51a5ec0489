package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/host"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// WriterCommand is the command by which the program adds files to the volume on its standard input: ServeWriter.
const WriterCommand = "media-writer"

// writerTime is how long adding files may take. Chosen: old sticks write 1 MB/s, and keep 4 MiB at most.
const writerTime = 30 * time.Second

// order is what the writing process is to do.
type order struct {
	Document []byte        `json:"document,omitempty"` // SHA-256 of the envelope that has to lie on the volume; none: it may have anything
	Files    []volume.File `json:"files"`
}

// written is what the writing process answers.
type written struct {
	Names   []string `json:"names,omitempty"`
	Problem *told    `json:"problem,omitempty"`
}

// Left tells what was added to a medium.
type Left struct {
	Medium string   // its name, as Medium.Name tells it
	Files  []string // their names
}

// leaveTime bounds what is done with a medium that is open for writing: it is read, and written to.
const leaveTime = readerTime + writerTime + 5*time.Second

// Leave adds files to the medium with the document that has an id, which this node trusts: where that is in a socket, else nothing is
// done and Left is nil. The writing is done by a process without rights, on a device that nothing else uses, after it found the document
// through the same open file. A device that does not answer holds Leave up for a bounded time, and the next call fails until it does
// (Leaving). It fails with a *problem.Problem.
func (w *Watcher) Leave(ctx context.Context, id string, files []volume.File) (*Left, error) {
	if w.Leaving() {
		return nil, silent()
	}
	all, err := devices(w.known.machine)
	if err != nil {
		return nil, err
	}
	found := w.readAll(ctx, all)
	i := slices.IndexFunc(found, func(f *Medium) bool { return f.signed != nil && w.known.is(f.signed, id) })
	if i < 0 || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := found[i]
	if f.kind == volume.ISO { // a drive may not even open for writing
		return nil, volume.ReadOnly()
	}
	fit := volume.Fitting(files)
	if len(fit) == 0 {
		return nil, volume.TooLarge()
	}
	return w.leaveWithin(ctx, leaveTime, func() (*Left, error) {
		names, err := w.known.add(ctx, f, fit)
		if err != nil {
			return nil, err
		}
		return &Left{f.Name(), names}, nil
	})
}

// Leaving tells whether a Leave has not ended that was given up, as its device did not answer.
func (w *Watcher) Leaving() bool { return w.leaving.Load() }

// leaveWithin waits for what opens, writes and closes a device, but no longer than a limit: each of that may wait in the kernel for a
// device that does not answer.
func (w *Watcher) leaveWithin(ctx context.Context, limit time.Duration, leave func() (*Left, error)) (*Left, error) {
	if !w.leaving.CompareAndSwap(false, true) {
		return nil, silent()
	}
	type answer struct {
		left *Left
		err  error
	}
	done := make(chan answer, 1) // nobody may be there any more
	go func() {
		left, err := leave()
		w.leaving.Store(false)
		done <- answer{left, err}
	}()
	select {
	case a := <-done:
		return a.left, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(limit):
		return nil, silent()
	}
}

// silent is the problem of a device that does not answer. What it was told to write may be there, or come later.
func silent() error { return volume.Unwritten(errors.New("the device does not answer")) }

// add adds files to a medium that was read.
func (k Known) add(ctx context.Context, f *Medium, files []volume.File) (names []string, err error) {
	device, err := os.OpenFile(f.path, os.O_RDWR|unix.O_EXCL|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, closed(err)
	}
	defer device.Close()
	if err := k.mayWrite(device); err != nil {
		return nil, err
	}
	content, _, err := inspect(ctx, device, readerTime, siteFiles())
	if err != nil {
		return nil, err
	}
	if e := content.Find(EnvelopeFile); e == nil || !bytes.Equal(e.Data, f.signed) {
		return nil, exchanged()
	}
	return k.write(ctx, device, f.signed, files)
}

// mayWrite refuses an open device that is no disk that can be pulled out: its name may be that of another one since it was read. In
// tests, whose machine is a folder, devices are regular files.
func (k Known) mayWrite(device *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(device.Fd()), &st); err != nil {
		return closed(err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		if diskOf(k.machine.Path("/sys"), st.Rdev).loose {
			return nil
		}
	case unix.S_IFREG:
		if k.machine.Root() != "" {
			return nil
		}
	}
	return exchanged()
}

// HasLeft tells whether something was noted by NoteLeft last.
func (k Known) HasLeft(what string) bool {
	noted, err := k.machine.ReadFile(leftFile)
	return err == nil && string(noted) == what+"\n"
}

// NoteLeft notes what was left on a medium last.
func (k Known) NoteLeft(what string) error {
	return k.machine.WriteFile(leftFile, []byte(what+"\n"), 0o600)
}

// Sockets is another text whenever something else is in the machine's sockets.
func (k Known) Sockets() string {
	all, err := devices(k.machine)
	if err != nil {
		return ""
	}
	var is []string
	for _, d := range all {
		is = append(is, d.is)
	}
	return strings.Join(is, "\n")
}

// write has the writing process add files to an open device that has a document; nil: to one with whatever it has.
func (Known) write(ctx context.Context, device *os.File, signed []byte, files []volume.File) ([]string, error) {
	o := order{Files: files}
	if signed != nil {
		sum := sha256.Sum256(signed)
		o.Document = sum[:]
	}
	given, err := orderOf(o)
	if err != nil {
		return nil, err
	}
	defer given.Close()
	out, err := host.Confined{Args: []string{WriterCommand}, Input: device, Order: given, Most: 64 << 10, Time: writerTime}.Run(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var w written
	if err == nil {
		err = strict(out, &w)
	}
	if err == nil && w.Problem == nil && len(w.Names) != len(files) {
		err = errors.New("it does not name what it wrote")
	}
	if err != nil {
		return nil, volume.Unwritten(err)
	}
	if w.Problem != nil {
		return nil, w.Problem.problem()
	}
	for i, name := range w.Names {
		w.Names[i] = printableName(name)
	}
	return w.Names, nil
}

// printableName is a name that the writing process told: a volume that took it over could have made it.
func printableName(name string) string {
	if host.FileName(name) != nil {
		return "?"
	}
	return cut(name, 64)
}

// closed is the error of a device that does not open for writing.
func closed(err error) error {
	switch {
	case errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES):
		return &problem.Problem{Code: "MED-RO", Summary: message.T("The medium is write-protected."), Fix: message.T("Use another stick, or switch its write protection off."), Err: err}
	case errors.Is(err, unix.EBUSY):
		return &problem.Problem{Code: "MED-BUSY", Summary: message.T("The medium is in use by this system, so that nothing is written to it."), Fix: message.T("Unmount it, take it out and put it in again."), Err: err}
	}
	return &problem.Problem{Code: "MED-OPEN", Summary: message.T("The medium cannot be opened for writing."), Fix: message.T("Take it out and put it in again."), Err: err}
}

func exchanged() error {
	return &problem.Problem{
		Code: "MED-XCHG", Summary: message.T("The medium was exchanged, so that nothing is written to it."),
		Fix: message.T("Put in the medium that brought the site config."),
	}
}

// ServeWriter is the writing process: it adds the files of the order to the volume on the open file in, and writes what it did to out.
func ServeWriter(in, ordered *os.File, out io.Writer) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("asking for the size of the volume: %w", err)
	}
	debug.SetMemoryLimit(readerMemory)
	if err := host.Confine(host.Limits{CPUSeconds: uint64(writerTime / time.Second), Memory: readerMemory, Writes: uint64(size)}); err != nil {
		return err
	}
	var o order
	if err := readOrder(ordered, &o); err != nil {
		return err
	}
	var w written
	if w.Names, err = add(in, size, o); err != nil {
		w.Problem = tellOf(err)
	}
	if err := json.NewEncoder(out).Encode(w); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}

// add adds the files where the document is the right one.
func add(device *os.File, size int64, o order) ([]string, error) {
	if len(o.Document) == 0 {
		return volume.Add(device, size, o.Files)
	}
	content, err := volume.Read(device, size, func(path string) bool { return strings.EqualFold(path, EnvelopeFile) })
	if err != nil {
		return nil, err
	}
	e := content.Find(EnvelopeFile)
	if e == nil {
		return nil, exchanged()
	}
	if sum := sha256.Sum256(e.Data); !bytes.Equal(sum[:], o.Document) {
		return nil, exchanged()
	}
	return volume.Add(device, size, o.Files)
}
