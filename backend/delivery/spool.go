package delivery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// Bounds of the folder. Chosen: a landing posts one report and a few faults; /var of a node has gigabytes to spare,
// and a site without its monitor for a month has no use for what waited.
const (
	// maxItem is the most bytes of one delivery.
	maxItem = 16 << 20
	maxAll  = 32 << 20 // bytes together
	maxMany = 64       // deliveries together

	// maxAge is how old a delivery gets by the node's clock. That leaps when it is set, so that minTried has to be over, too.
	maxAge   = 30 * 24 * time.Hour
	minTried = 24 * time.Hour

	maxTarget = 1 << 20 // bytes of the settings: certificates, above all; the site config as a whole may not be longer
)

const (
	targetFile = "monitor.json" // mode 0600: it holds the token
	lastFile   = "last.json"    // when something was delivered last
	ending     = ".post"
)

// waiting is a delivery in the folder, without its body. Its file is named after the time and the key, so that the oldest is first;
// it holds a line of JSON, and the body behind it.
type waiting struct {
	name string
	key  string
	made time.Time
	size int64
}

// Post lets a delivery wait for the sender, durably. The same content again is not a second delivery. Where there is no
// room, the oldest goes.
func (o *Outbox) Post(i Item) error {
	if len(i.Body) > maxItem {
		return &problem.Problem{
			Code: "MTR-LRGE", Summary: message.F("The document has %d bytes; a monitor gets %d at most.", len(i.Body), maxItem),
			Fix: message.T("Take it along on a stick, or fetch it over SSH."),
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	all, err := o.list()
	if err != nil {
		return unkept(err)
	}
	key := i.key()
	if slices.ContainsFunc(all, func(w waiting) bool { return w.key == key }) {
		return nil
	}
	head, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("encoding a delivery: %w", err)
	}
	data := append(append(head, '\n'), i.Body...)
	if err := o.room(all, int64(len(data))); err != nil {
		return unkept(err)
	}
	name := fmt.Sprintf("%020d-%s-%s%s", o.behind(all), i.Kind, key, ending)
	if err := o.folder.WriteFiles(host.File{Path: name, Data: data, Perm: 0o600}); err != nil {
		return unkept(err)
	}
	o.count()
	o.stir()
	return nil
}

// behind is the time in nanoseconds; where the clock was set back, one more than the newest that waits: the newest is always last.
func (o *Outbox) behind(all []waiting) int64 {
	now := max(o.now().UnixNano(), 0)
	if len(all) == 0 {
		return now
	}
	last := all[len(all)-1].made.UnixNano()
	return max(now, min(last, math.MaxInt64-1)+1)
}

// room removes deliveries until another one fits, the oldest first.
func (o *Outbox) room(all []waiting, size int64) error {
	many := len(all) + 1
	for _, w := range all {
		size += w.size
	}
	for _, w := range all {
		if size <= maxAll && many <= maxMany {
			return nil
		}
		if err := o.drop(w, "a newer one needs its place"); err != nil {
			return err
		}
		size, many = size-w.size, many-1
	}
	return nil
}

func (w waiting) kind() string {
	_, rest, _ := strings.Cut(strings.TrimSuffix(w.name, ending), "-")
	return strings.TrimSuffix(rest, "-"+w.key)
}

// drop gives a delivery up.
func (o *Outbox) drop(w waiting, why string) error {
	if err := o.folder.Remove(w.name); err != nil {
		return err
	}
	delete(o.tries, w.name)
	o.log.Warn("a delivery to the monitor is given up", "kind", w.kind(), "key", w.key, "made", w.made, "why", why)
	return nil
}

// sweep removes the temporary files that a power cut left; they may hold the token. Nothing of ours begins with a dot but these.
func (o *Outbox) sweep() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	names, err := o.folder.Names()
	for _, name := range names {
		if strings.HasPrefix(name, ".") {
			err = errors.Join(err, o.folder.Remove(name))
		}
	}
	return err
}

// list is what waits, the oldest first. A name that we did not make is none of ours.
func (o *Outbox) list() ([]waiting, error) {
	names, err := o.folder.Names()
	if err != nil {
		return nil, err
	}
	var all []waiting
	for _, name := range names {
		bare, ours := strings.CutSuffix(name, ending)
		at, rest, ok := strings.Cut(bare, "-")
		nanos, err := strconv.ParseInt(at, 10, 64)
		cut := strings.LastIndex(rest, "-")
		if !ours || !ok || err != nil || cut < 0 {
			continue
		}
		w := waiting{name: name, key: rest[cut+1:], made: time.Unix(0, nanos).UTC()}
		if info, err := os.Lstat(filepath.Join(o.dir, name)); err == nil {
			w.size = info.Size()
		}
		all = append(all, w)
	}
	return all, nil
}

// read returns a delivery. One whose content is not that of its key was damaged on the disk.
func (o *Outbox) read(w waiting) (i Item, err error) {
	data, err := o.file(w.name, maxItem+maxTarget)
	if err != nil {
		return i, fmt.Errorf("reading a delivery: %w", err)
	}
	head, body, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &i); err != nil {
		return i, fmt.Errorf("reading a delivery: %w: %w", errDamaged, err)
	}
	i.Body = body
	if i.key() != w.key {
		return i, fmt.Errorf("reading a delivery: %w", errDamaged)
	}
	return i, nil
}

// file reads a file of the folder, if it is a regular one.
func (o *Outbox) file(name string, limit int64) ([]byte, error) {
	data, whole, err := host.ReadBeneath(o.dir, name, limit)
	if err == nil && !whole {
		err = errDamaged
	}
	return data, err // the callers say what they read
}

var errDamaged = errors.New("its content was damaged on the disk")

func unkept(err error) error {
	return &problem.Problem{
		Code: "MTR-KEEP", Summary: message.T("What is meant for the monitor could not be kept on the node."),
		Fix: message.T("Free some space on /var; take the report along on a stick."), Err: err,
	}
}
