package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/ledger"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// statement is the file in which a node says that it is wiped. Until that is true it has another name and is not valid, so that a power cut
// leaves no statement of what was not done; the same command goes on with it, when the key that signed it may be gone.
type statement struct {
	file string
	key  []byte    // what signed it in this run; nil where an earlier run signed
	done time.Time // of the wipe that file states already; zero: it is not there yet
}

func (s statement) early() string { return s.file + ".part" }

// state signs what the node says about its wipe; there is nothing to do where none is asked for.
func (w *wiping) state(machine *host.Machine) (*statement, error) {
	if w.statement == "" {
		return nil, nil
	}
	folder, err := realFolder(filepath.Dir(w.statement))
	if err != nil {
		return nil, usage(fmt.Errorf("--statement: %w", err))
	}
	file := filepath.Join(folder, filepath.Base(w.statement))
	if kept, err := realFolder(w.engine.state); err == nil && strings.HasPrefix(file, kept+"/") {
		return nil, usage(fmt.Errorf("--statement %s is in the folder that is wiped", w.statement))
	}
	s := &statement{file: file}
	text, err := os.ReadFile(machine.Path(layout.ReportKey))
	none := errors.Is(err, fs.ErrNotExist)
	if _, there := os.Lstat(file); !errors.Is(there, fs.ErrNotExist) {
		if !s.isOf(machine, none) {
			return nil, usage(fmt.Errorf("--statement %s is there already; name another file", w.statement))
		}
		return s, nil
	}
	if none {
		return s, s.goesOn(machine)
	}
	var key envelope.SigningKey
	if err == nil {
		key, err = envelope.ParseSigningKey(text)
	}
	if err != nil {
		return nil, unsigned(err)
	}
	if err := s.mayReplace(machine, key.Public(), w.begun()); err != nil {
		return nil, err
	}
	says, err := ledger.WipedNow(machine, version, time.Now())
	if err != nil {
		return nil, err
	}
	signed, err := says.Sign(key)
	if err != nil {
		return nil, err
	}
	kept, err := ledger.Unfinished(signed)
	if err != nil {
		return nil, err
	}
	if err := host.WriteFileAtomic(s.early(), kept, 0o600); err != nil {
		return nil, usage(fmt.Errorf("--statement: %w", err))
	}
	s.key = text
	return s, nil
}

// realFolder is the path of a folder without links on it.
func realFolder(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// isOf tells whether the file states the wipe of this machine that is done once more: the machine has made no key since. The one that signed it
// is gone, so that only a ledger can judge the signature.
func (s *statement) isOf(machine *host.Machine, keyless bool) bool {
	signed, err := os.ReadFile(s.file)
	if err != nil || !keyless {
		return false
	}
	says, err := ledger.ReadWiped(signed)
	if err != nil || !says.Of(machine) {
		return false
	}
	s.done = says.At
	return true
}

// mayReplace refuses to sign over what another key has signed: a wipe has destroyed that key, and nobody can sign it again. Of this machine it
// is the statement of an earlier wipe, which has finished where none is under way: it is completed, and the new wipe needs another file.
func (s *statement) mayReplace(machine *host.Machine, key envelope.PublicKey, underWay bool) error {
	kept, err := os.ReadFile(s.early())
	if errors.Is(err, fs.ErrNotExist) || err == nil && ledger.WipedBy(ledger.Finished(kept), key) {
		return nil
	}
	var says ledger.Wiped
	if err == nil {
		says, err = ledger.ReadWiped(ledger.Finished(kept))
	}
	if err != nil || !says.Of(machine) || underWay {
		return usage(fmt.Errorf("--statement %s: %s is there already and is not of this wipe; name another file", s.file, s.early()))
	}
	if err := s.isTrue(); err != nil {
		return err
	}
	return &problem.Problem{
		Code: "WPE-TWCE", Summary: message.F("An earlier run wiped this node on %s, and %s states it now. The node has another key since, and this run wiped nothing.", says.At.UTC().Format(time.RFC3339), s.file),
		Fix: message.T("Give that file to the ledger. To wipe what the node has now, run touchdown wipe NODE again; with --statement name another FILE."),
	}
}

// goesOn takes the statement of a wipe of this machine that was cut off.
func (s *statement) goesOn(machine *host.Machine) error {
	kept, err := os.ReadFile(s.early())
	var says ledger.Wiped
	if err == nil {
		says, err = ledger.ReadWiped(ledger.Finished(kept))
	}
	if err == nil && says.Of(machine) {
		return nil
	}
	return &problem.Problem{
		Code:    "WPE-PART",
		Summary: message.F("This node has no key to sign with, and %s does not hold what it signed about its wipe. This run wiped nothing; an earlier one may have.", s.early()),
		Fix:     message.T("Where an earlier run with --statement was cut off, name the same FILE and keep its FILE.part. Otherwise wipe it without --statement: touchdown wipe NODE."), Err: err,
	}
}

// isTrue makes it valid, under its name.
func (s *statement) isTrue() error {
	if s == nil {
		return nil
	}
	if s.done.IsZero() {
		kept, err := os.ReadFile(s.early())
		if err == nil {
			err = host.WriteFileAtomic(s.file, ledger.Finished(kept), 0o600)
		}
		if err != nil {
			return s.late(err)
		}
	}
	if err := os.Remove(s.early()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("all is wiped and %s says so, but %s is still there: %w", s.file, s.early(), err)
	}
	return host.SyncDir(filepath.Dir(s.file))
}

func (s *statement) late(err error) error {
	return &problem.Problem{
		Code: "WPE-LATE", Summary: message.F("Everything is wiped, but the statement about it could not be completed; %s holds what is signed.", s.early()),
		Fix: message.T("Run the same command again, with the same FILE and its FILE.part where they are."), Err: err,
	}
}

// drop takes away the statement of a wipe that was refused. It stays where it could not be signed again: the key goes with a wipe, and an
// engine that starts may make another one.
func (s *statement) drop(machine *host.Machine) {
	if s == nil || s.key == nil {
		return
	}
	if now, err := os.ReadFile(machine.Path(layout.ReportKey)); err == nil && bytes.Equal(now, s.key) {
		_ = os.Remove(s.early())
	}
}

// unsigned is the problem of a node whose key cannot be used.
func unsigned(err error) error {
	return &problem.Problem{
		Code: "WPE-SGN", Summary: message.T("This node cannot sign that it is wiped: the key of its reports is missing or damaged. Nothing was wiped."),
		Fix: message.T("Wipe it without --statement: touchdown wipe NODE. Where an earlier run with the same FILE was cut off, keep its FILE.part and name the same FILE."), Err: err,
	}
}
