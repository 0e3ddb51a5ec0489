package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"touchdown/backend/kube"
)

// savedAt returns what the step saved under a key; ok is false where it saved nothing. What is there and cannot be read is an
// error: taken for nothing, it would let an undo end well that put nothing back.
func savedAt(report Report, key string) (original []byte, ok bool, err error) {
	return present(report.Saved(key))
}

// notedAt returns the last note of a key, as savedAt does.
func notedAt(report Report, key string) (value []byte, ok bool, err error) {
	return present(report.Noted(key))
}

func present(data []byte, err error) ([]byte, bool, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// series numbers what a step saves under one name, from 1 on, so that Undo finds all of it whatever the answers were then. A step
// that runs again with other answers adds to it.
type series struct {
	report Report
	name   string
}

func (s series) key(n int) string { return fmt.Sprintf("%s-%03d", s.name, n) }

// mostLost is how many numbers in a row may be missing: a disk can lose some, which the engine told when it started.
const mostLost = 16

// all returns what was saved, oldest first, and the number for the next. What follows a lost one counts too: it is put back all
// the same, and is not overwritten.
func (s series) all() (all [][]byte, next int, err error) {
	next = 1
	for n := 1; n <= next+mostLost; n++ {
		b, ok, err := savedAt(s.report, s.key(n))
		if err != nil {
			return nil, 0, fmt.Errorf("reading saved %s %d: %w", s.name, n, err)
		}
		if ok {
			all, next = append(all, b), n+1
		}
	}
	return all, next, nil
}

// originals are what a step saves of the cluster's objects, in the order of its changes.
type originals struct{ series }

func newOriginals(report Report) originals { return originals{series{report, "change"}} }

// save is a kube.Save. A change that was saved and then cut off is not saved twice.
func (o originals) save(_ kube.Ref, original []byte) error {
	all, next, err := o.all()
	if err != nil {
		return err
	}
	if n := len(all); n > 0 && bytes.Equal(all[n-1], original) {
		return nil
	}
	return o.report.Save(o.key(next), original)
}

// mark keeps the state of something at the time of the next change.
func (o originals) mark(name, value string) error {
	_, next, err := o.all()
	if err != nil {
		return err
	}
	return o.report.Save(series{o.report, name}.key(next), []byte(value))
}

// marked returns the newest mark of that name, "" when there is none.
func (o originals) marked(name string) (string, error) {
	_, next, err := o.all()
	if err != nil {
		return "", err
	}
	for n := next + mostLost; n > 0; n-- { // the changes that came after the mark may be lost
		if b, ok, err := savedAt(o.report, series{o.report, name}.key(n)); ok || err != nil {
			return string(b), err
		}
	}
	return "", nil
}

// restore puts everything back, last change first. It returns the objects that had to be changed for it.
func (o originals) restore(ctx context.Context, c *kube.Cluster) (changed []kube.Ref, err error) {
	return o.restoreBy(func(_ kube.Ref, original []byte) (bool, error) { return c.Restore(ctx, original) })
}

// restoreBy is restore for a step with its own way to put one object back.
func (o originals) restoreBy(restore func(kube.Ref, []byte) (bool, error)) (changed []kube.Ref, err error) {
	all, _, err := o.all()
	if err != nil {
		return nil, err
	}
	for i, original := range slices.Backward(all) {
		ref, err := kube.SavedRef(original)
		if err != nil {
			return changed, fmt.Errorf("undoing change %d: %w", i+1, err)
		}
		did, err := restore(ref, original)
		if did {
			changed = append(changed, ref)
		}
		if err != nil {
			return changed, fmt.Errorf("undoing change %d: %w", i+1, err)
		}
	}
	return changed, nil
}
