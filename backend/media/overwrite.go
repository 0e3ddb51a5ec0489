package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"

	"touchdown/backend/envelope"
	"touchdown/backend/layout"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// overFile notes, while a site config is overwritten, the id of its document and how it began: after a power cut the rest of it is known
// by that. Afterwards it notes that it is done.
const (
	overFile = layout.Media + "/overwriting"
	overDone = "done"
)

// UsedFile tells people on the medium what became of its site config.
const UsedFile = "used.txt"

// overwrite adds files to an open device, and overwrites its site config. What a power cut leaves undone is done by the next Leave.
func overwrite(ctx context.Context, k Known, device *os.File, signed []byte, files []volume.File, l Leaving, left *Left) error {
	if l.Files != nil || !began(k, signed, l.ID) { // it has not begun
		files = append(files, *l.Used)
		note := fmt.Sprintf("%s %x\n", l.ID, headOf(signed))
		if err := k.machine.WriteFile(overFile, []byte(note), 0o600); err != nil {
			left.Stays = stays(err)
			left.Files, err = k.write(ctx, device, orderFor(signed, files[:len(files)-1]))
			return err
		}
	}
	o := orderFor(signed, files)
	o.Overwrite = true
	w, err := ordered(ctx, device, o)
	if err != nil { // it is not known how far it came: the note stays
		return err
	}
	left.Files, left.Overwritten = w.Names, w.Gone
	switch {
	case w.Stays != nil:
		left.Stays = stays(w.Stays.problem())
		_ = k.machine.Remove(overFile) // it was told
	case w.Gone:
		_ = k.machine.WriteFile(overFile, []byte(l.ID+" "+overDone+"\n"), 0o600) // without that it is told that it is not certain
	}
	if w.Problem != nil {
		return w.Problem.problem()
	}
	return nil
}

// headOf is the sum of what is overwritten last of a document.
func headOf(signed []byte) []byte {
	sum := sha256.Sum256(signed[:min(len(signed), volume.HeadSize)])
	return sum[:]
}

// began tells whether this is what is left of a document whose overwriting this node began.
func began(k Known, signed []byte, id string) bool {
	note, err := k.machine.ReadFile(overFile)
	if err != nil {
		return false
	}
	zeros := len(bytes.Trim(signed, "\x00")) == 0
	was, head, _ := strings.Cut(strings.TrimSpace(string(note)), " ")
	return was == id && head != overDone && (zeros || head == fmt.Sprintf("%x", headOf(signed)))
}

// unsure tells of a document whose overwriting began and whose medium is not there: nothing where it was done, and nil where it never began.
func unsure(k Known, id string) *Left {
	note, err := k.machine.ReadFile(overFile)
	switch how, begun := strings.CutPrefix(string(note), id+" "); {
	case err != nil || !begun:
		return nil
	case strings.TrimSpace(how) == overDone:
		return &Left{}
	}
	return &Left{Stays: stays(errors.New("the power was cut, or the medium was taken out, while it was overwritten"))}
}

// keeps tells whether a document stays on its medium: it says so, or other machines need it.
func keeps(k Known, signed []byte) bool {
	trust, err := k.Trust(false)
	if err != nil {
		return false
	}
	d, _, err := envelope.Verify(signed, trust)
	return err == nil && (d.Keep || d.AnySerial)
}

// stays is the warning that a site config may be on its medium still.
func stays(err error) *problem.Problem {
	return &problem.Problem{
		Code: "MED-LEFT", Summary: message.T("The site config on the medium was not overwritten, or it is not certain that it was."),
		Fix: message.T("Erase the medium on another computer, or destroy it, as it may hold secrets."), Err: err,
	}
}
