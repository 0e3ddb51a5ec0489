package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"touchdown/backend/host"
)

// stateFolder is where the engine keeps what must survive it: /var/lib/touchdown on a node. The folder is 0700, each file 0600.
//
//	lock               held for as long as an engine lives; its text is the engine's pid
//	journal.jsonl      the event stream
//	sums.jsonl         checksums of the files below, and where the journal was
//	site.yaml          the draft of the site config, without secrets
//	sources.json       where each value of the draft came from
//	secrets/PATH       one secret each, wiped at hand-over
//	saved/STEP/KEY     originals and notes (note-KEY), wiped at hand-over and after undo
//	saved/job/KEY      notes that all steps of the job share, wiped with them
//	key                the node-local key under which fingerprints are made
//	console-lock.json  the hash of the consoles' PIN, and when they lock; stays after the hand-over
//	console-before.json what counted before the job at work; gone with the hand-over and after undo
//	console-wrong      how many PINs in a row were wrong
//	live.json          how the cluster was when it was looked at last; worth nothing to the work, and left out of the checksums
//	consoles*.txt      what the consoles showed; worth nothing to the work, and left out of the checksums, too
//	report.*           written by the hand-over step
//	returned/DATE/     the records of an earlier job, set aside when the node came back to the factory (steps/aside); nothing removes them
//
// What is found damaged is renamed: *.damaged, *.unreadable.
type stateFolder struct {
	dir    string
	lock   *os.File
	key    hmacKey
	sums   *sums
	losses []loss // what an audit found
}

// openStore creates or opens the state folder, takes its lock and looks whether everything is there that was written.
// Whatever is damaged, the engine must start and tell; only a folder that another engine holds, or that cannot be made, fails.
func openFolder(dir string) (*stateFolder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the state folder: %w", err)
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	s := &stateFolder{dir: dir, lock: lock}
	s.sums = openSums(s.path("sums.jsonl"))
	s.audit()
	s.key = s.nodeKey()
	if len(s.losses) == 0 { // of a folder of the previous release, before its journal gets checksums
		s.acceptLosses()
	}
	return s, nil
}

func (s *stateFolder) close() error {
	s.sums.close()
	return s.lock.Close()
}

func (s *stateFolder) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// writable tries to write to the folder where that failed before.
func (s *stateFolder) writable() error {
	if s.sums.log != nil {
		return nil
	}
	return s.sums.rewrite()
}

// put replaces a file, by its name below the state folder.
func (s *stateFolder) put(name string, data []byte) error {
	if len(s.losses) > 0 { // what is on the disk of the checksums tells them to the next engine, until they are recorded
		s.sums.files[name] = sum{is: checksum(data)}
		return host.WriteFileAtomic(s.path(name), data, 0o600)
	}
	content := map[string][]byte{name: data}
	if err := s.sums.will(content); err != nil {
		return err
	}
	if err := host.WriteFileAtomic(s.path(name), data, 0o600); err != nil {
		return err
	}
	s.sums.are(content)
	return nil
}

// nodeKey reads the key under which fingerprints are made, or makes it. It never leaves the node, so that a
// fingerprint in a report says nothing about a secret. A key that no disk takes holds for this engine: the next one
// finds that its answers changed, and asks.
func (s *stateFolder) nodeKey() hmacKey {
	key, err := readKept(s.path("key"))
	if err == nil && len(key) == sha256.Size {
		return key
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		_, _ = putAside(s.path("key"), ".unreadable") // in the way of the next one only
	}
	key = make([]byte, sha256.Size)
	rand.Read(key)
	_ = s.put("key", key)
	return key
}

// plainName is what a key of a saved original may look like, so that it is a file name and nothing else.
var plainName = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._-]{0,120}$`)

// save keeps an original; the first one of a key wins.
func (s *stateFolder) save(step, key string, original []byte) error {
	if !plainName.MatchString(step) || !plainName.MatchString(key) {
		return fmt.Errorf("saving the original %q of step %q: not a plain name", key, step)
	}
	if _, err := os.Lstat(s.path("saved", step, key)); err == nil {
		return nil
	}
	return s.keep(step, key, original)
}

// note keeps where a step is; a later note replaces an earlier one.
func (s *stateFolder) note(step, key string, value []byte) error {
	if !plainName.MatchString(step) || !plainName.MatchString(noteName(key)) {
		return fmt.Errorf("noting %q of step %q: not a plain name", key, step)
	}
	return s.keep(step, noteName(key), value)
}

// noteName keeps notes and originals of one key apart.
func noteName(key string) string { return "note-" + key }

func (s *stateFolder) keep(step, key string, original []byte) error {
	if err := os.MkdirAll(s.path("saved", step), 0o700); err != nil {
		return fmt.Errorf("saving an original: %w", err)
	}
	if err := host.SyncDir(s.path("saved")); err != nil {
		return err
	}
	if err := s.put(filepath.Join("saved", step, key), original); err != nil {
		return fmt.Errorf("saving an original: %w", journalProblem(err))
	}
	return nil
}

// saved returns an original, or an error that is fs.ErrNotExist.
func (s *stateFolder) saved(step, key string) ([]byte, error) {
	data, err := readKept(s.path("saved", step, key))
	if err != nil {
		return nil, fmt.Errorf("reading an original: %w", err)
	}
	return data, nil
}

// touched are the steps of which an original is kept: they may have changed something.
func (s *stateFolder) touched() (list []string) {
	for _, step := range s.names("saved") {
		if len(s.names(step)) > 0 && filepath.Base(step) != jobNotes {
			list = append(list, filepath.Base(step))
		}
	}
	return list
}
