package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
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

// How long adding files may take, by the processor and by the clock. Chosen: old sticks write 1 MB/s, and keep 4 MiB at most; the clock
// has more for the reason of readerTime.
const (
	writerCPU  = 30 * time.Second
	writerTime = 90 * time.Second
)

// order is what the writing process is to do.
type order struct {
	Document  []byte        `json:"document,omitempty"` // SHA-256 of the envelope that has to lie on the volume; none: it may have anything
	Files     []volume.File `json:"files"`
	Overwrite bool          `json:"overwrite,omitempty"` // the envelope, once the files are added
}

// written is what the writing process answers.
type written struct {
	Names   []string `json:"names,omitempty"`
	Problem *told    `json:"problem,omitempty"` // why no files were added, or why nothing was done
	Stays   *told    `json:"stays,omitempty"`   // why the envelope was not overwritten
	Gone    bool     `json:"gone,omitempty"`    // the envelope was overwritten
}

// Leaving is what is to be left on a medium.
type Leaving struct {
	ID    string // of the document that the medium has
	Files []volume.File
	Used  *volume.File // when the site config is to be overwritten, unless its document says keep: what tells so, beside Files; nil: it stays
}

// Left tells what was done to a medium.
type Left struct {
	Medium      string           // its name, as Medium.Name tells it
	Files       []string         // the names of what was added
	Overwritten bool             // its site config is, on this medium
	Stays       *problem.Problem // why its site config is not overwritten; nil when it is, or is to be kept
}

// leaveTime bounds what is done with a medium that is open for writing: it is read, and written to.
const leaveTime = readerTime + writerTime + 5*time.Second

// Leave adds files to the medium with a document that this node trusts, and overwrites its site config: where that is in a socket, else
// nothing is done and Left is nil. The writing is done by a process without rights, on a device that nothing else uses, after it found the
// document through the same open file. A device that does not answer holds Leave up for a bounded time, and the next call fails until it
// does (Waiting). It fails with a *problem.Problem where no files were added; Left then tells of the site config alone.
func (w *Watcher) Leave(ctx context.Context, l Leaving) (*Left, error) {
	if w.Waiting() {
		return nil, silent()
	}
	all, err := devices(w.known.machine)
	if err != nil {
		return nil, err
	}
	found, _ := w.readAll(ctx, all)
	i := slices.IndexFunc(found, func(f *Medium) bool { return f.signed != nil && w.known.is(f.signed, l.ID) })
	if i < 0 {
		i = slices.IndexFunc(found, func(f *Medium) bool { return f.signed != nil && began(w.known, f.signed, l.ID) })
		l.Files = nil // they were added before
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if i < 0 {
		return unsure(w.known, l.ID), nil
	}
	f := found[i]
	left := &Left{Medium: f.Name()}
	if l.Used != nil && keeps(w.known, f.signed) {
		l.Used = nil
	}
	left, err = w.leaveOn(ctx, f, left, l)
	switch {
	case l.Used == nil || left.Stays != nil:
	case !left.Overwritten:
		left.Stays = stays(err)
	case f.twin:
		left.Stays = stays(errors.New("another medium in the machine has the same site config"))
	}
	return left, err
}

// leaveOn does that on a medium that was found.
func (w *Watcher) leaveOn(ctx context.Context, f *Medium, left *Left, l Leaving) (*Left, error) {
	if f.kind != volume.FAT { // a drive may not even open for writing
		return left, volume.ReadOnly(f.kind)
	}
	fit := volume.Fitting(l.Files)
	if len(fit) == 0 && len(l.Files) > 0 && l.Used == nil {
		return left, volume.TooLarge()
	}
	done, err := w.leaveWithin(ctx, leaveTime, func() (*Left, error) { return w.known.add(ctx, f, fit, l) })
	if done == nil { // it was given up, and may go on
		return left, err
	}
	return done, err
}

// Waiting tells whether a Leave has not ended that was given up, as its device did not answer.
func (w *Watcher) Waiting() bool { return w.leaving.Load() }

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

// add adds files to a medium that was read, and overwrites its site config where the node leaves a file that tells so.
func (k Known) add(ctx context.Context, f *Medium, files []volume.File, l Leaving) (*Left, error) {
	left := &Left{Medium: f.Name()}
	device, err := os.OpenFile(f.path, os.O_RDWR|unix.O_EXCL|unix.O_NONBLOCK, 0)
	if err != nil {
		return left, closed(err)
	}
	defer device.Close()
	if err := k.mayWrite(device); err != nil {
		return left, err
	}
	content, _, err := inspect(ctx, device, readerTime, siteFiles())
	if err != nil {
		return left, err
	}
	if e := content.Find(EnvelopeFile); e == nil || !bytes.Equal(e.Data, f.signed) {
		return left, exchanged()
	}
	if l.Used == nil {
		left.Files, err = k.write(ctx, device, orderFor(f.signed, files))
		return left, err
	}
	return left, overwrite(ctx, k, device, f.signed, files, l, left)
}

// mayWrite refuses an open device that is not a disk that can be pulled out: its name may be that of another one since it was read. In
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

// orderFor is the order to add files to a volume with a document; nil: to one with whatever it has.
func orderFor(signed []byte, files []volume.File) order {
	o := order{Files: files}
	if signed != nil {
		sum := sha256.Sum256(signed)
		o.Document = sum[:]
	}
	return o
}

// write has the writing process add files to an open device.
func (Known) write(ctx context.Context, device *os.File, o order) ([]string, error) {
	w, err := ordered(ctx, device, o)
	if err == nil && w.Problem != nil {
		err = w.Problem.problem()
	}
	if err != nil {
		return nil, err
	}
	return w.Names, nil
}

// ordered has the writing process carry out an order on an open device.
func ordered(ctx context.Context, device *os.File, o order) (w written, err error) {
	given, err := orderOf(o)
	if err != nil {
		return w, err
	}
	defer given.Close()
	out, err := host.Confined{Args: []string{WriterCommand}, Input: device, Order: given, Most: 64 << 10, Time: writerTime}.Run(ctx)
	if ctx.Err() != nil {
		return w, context.Cause(ctx)
	}
	if err == nil {
		err = strict(out, &w)
	}
	if err == nil && w.Problem == nil && len(w.Names) != len(o.Files) {
		err = errors.New("it does not name what it wrote")
	}
	if err != nil {
		return w, volume.Unwritten(err)
	}
	for i, name := range w.Names {
		w.Names[i] = printableName(name)
	}
	return w, nil
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
		return &problem.Problem{Code: "MED-PRT", Summary: message.T("The medium is write-protected."), Fix: message.T("Use another stick, or switch its write protection off."), Err: err}
	case errors.Is(err, unix.EBUSY):
		return &problem.Problem{Code: "MED-BUSY", Summary: message.T("The medium is in use by this system, so nothing is written to it."), Fix: message.T("Unmount it, take it out and put it in again."), Err: err}
	}
	return &problem.Problem{Code: "MED-DEAD", Summary: message.T("The medium cannot be opened for writing."), Fix: message.T("Take it out and put it in again."), Err: err}
}

func exchanged() error {
	return &problem.Problem{
		Code: "MED-XCHG", Summary: message.T("The medium was exchanged, so nothing is written to it."),
		Fix: message.T("Put in the medium that brought the site config."),
	}
}
