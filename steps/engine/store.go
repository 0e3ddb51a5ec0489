package engine

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"touchdown/backend/host"
	"touchdown/backend/problem"
	"touchdown/steps/site"
)

// store is the engine's state folder: /var/lib/touchdown on a node. The folder is 0700, each file 0600.
//
//	lock               held for as long as an engine lives; its text is the engine's pid
//	journal.jsonl      the event stream
//	site.yaml          the draft of the site config, without secrets
//	sources.json       where each value of the draft came from
//	secrets/PATH       one secret each, wiped at hand-over
//	saved/STEP/KEY     originals and notes (note-KEY), wiped at hand-over and after undo
//	key                the node-local key under which fingerprints are made
//	report.*           written by the hand-over step
type store struct {
	dir  string
	lock *os.File
	key  []byte
}

// openStore creates or opens the state folder and takes its lock.
func openStore(dir string) (*store, error) {
	for _, d := range []string{dir, filepath.Join(dir, "secrets"), filepath.Join(dir, "saved")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("creating the state folder: %w", err)
		}
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, lock: lock}
	if s.key, err = s.nodeKey(); err != nil {
		lock.Close()
		return nil, err
	}
	return s, nil
}

func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid, _ := os.ReadFile(path)
		f.Close()
		return nil, &problem.Problem{
			Code: "BUSY", Summary: "Another engine is already at work on this node.",
			Fix: "Attach to it with `touchdown console`; its process id is " + strings.TrimSpace(string(pid)) + ".",
			Err: fmt.Errorf("locking %s: %w", path, err),
		}
	}
	// The pid only helps a person; the lock itself is the kernel's and ends with the process.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return f, nil
}

func (s *store) close() error { return s.lock.Close() }

func (s *store) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// nodeKey reads the key under which fingerprints are made, or makes it. It never leaves the node, so that a
// fingerprint in a report says nothing about a secret.
func (s *store) nodeKey() ([]byte, error) {
	key, err := os.ReadFile(s.path("key"))
	if err == nil && len(key) == sha256.Size {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the node's key: %w", err)
	}
	key = make([]byte, sha256.Size)
	rand.Read(key)
	if err := host.WriteFileAtomic(s.path("key"), key, 0o600); err != nil {
		return nil, fmt.Errorf("writing the node's key: %w", err)
	}
	return key, nil
}

// fingerprint returns an HMAC over parts under the node's key.
func (s *store) fingerprint(parts ...string) string {
	mac := hmac.New(sha256.New, s.key)
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p) // with lengths, so that no two lists read the same
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// saveDraft keeps the config as it stands. Secrets go to files of their own.
func (s *store) saveDraft(cfg *site.Config) error {
	text, err := cfg.WithoutSecrets().Marshal(false)
	if err != nil {
		return fmt.Errorf("encoding the draft: %w", err)
	}
	if err := s.saveSecrets(cfg.Secrets()); err != nil {
		return err
	}
	if err := host.WriteFileAtomic(s.path("site.yaml"), text, 0o600); err != nil {
		return fmt.Errorf("saving the draft: %w", err)
	}
	sources, err := json.Marshal(cfg.Sources)
	if err == nil {
		err = host.WriteFileAtomic(s.path("sources.json"), sources, 0o600)
	}
	if err != nil {
		return fmt.Errorf("saving the draft's sources: %w", err)
	}
	return nil
}

func (s *store) saveSecrets(secrets map[string]string) error {
	kept, err := os.ReadDir(s.path("secrets"))
	if err != nil {
		return fmt.Errorf("listing the kept secrets: %w", err)
	}
	for _, f := range kept {
		if _, still := secrets[f.Name()]; !still {
			if err := wipe(s.path("secrets", f.Name())); err != nil {
				return err
			}
		}
	}
	for path, value := range secrets {
		if old, err := os.ReadFile(s.path("secrets", path)); err == nil && string(old) == value {
			continue
		}
		if err := host.WriteFileAtomic(s.path("secrets", path), []byte(value), 0o600); err != nil {
			return fmt.Errorf("keeping the secret %s: %w", path, err)
		}
	}
	return nil
}

// loadDraft returns the draft of an earlier engine, or nil when there is none.
func (s *store) loadDraft() (*site.Config, error) {
	text, err := os.ReadFile(s.path("site.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the draft: %w", err)
	}
	cfg, err := site.Parse(text, s.path("site.yaml"), nil)
	if err != nil {
		return nil, fmt.Errorf("reading the draft: %w", err)
	}
	if data, err := os.ReadFile(s.path("sources.json")); err == nil {
		_ = json.Unmarshal(data, &cfg.Sources) // only tells where values came from; without it they read as from the draft
	}
	kept, err := os.ReadDir(s.path("secrets"))
	if err != nil {
		return nil, fmt.Errorf("listing the kept secrets: %w", err)
	}
	for _, f := range kept {
		value, err := os.ReadFile(s.path("secrets", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a kept secret: %w", err)
		}
		source := cfg.Sources[f.Name()]
		if source == "" {
			source = site.Typed
		}
		if err := cfg.SetFrom(f.Name(), string(value), source); err != nil {
			return nil, fmt.Errorf("reading the kept secret %s: %w", f.Name(), err)
		}
	}
	return cfg, nil
}

// plainName is what a key of a saved original may look like, so that it is a file name and nothing else.
var plainName = regexp.MustCompile(`^[a-z0-9][a-zA-Z0-9._-]{0,120}$`)

// save keeps an original; the first one of a key wins.
func (s *store) save(step, key string, original []byte) error {
	if !plainName.MatchString(step) || !plainName.MatchString(key) {
		return fmt.Errorf("saving the original %q of step %q: not a plain name", key, step)
	}
	if _, err := os.Lstat(s.path("saved", step, key)); err == nil {
		return nil
	}
	return s.keep(step, key, original)
}

// note keeps where a step is; a later note replaces an earlier one.
func (s *store) note(step, key string, value []byte) error {
	if !plainName.MatchString(step) || !plainName.MatchString(noteName(key)) {
		return fmt.Errorf("noting %q of step %q: not a plain name", key, step)
	}
	return s.keep(step, noteName(key), value)
}

// noteName keeps notes and originals of one key apart.
func noteName(key string) string { return "note-" + key }

func (s *store) keep(step, key string, original []byte) error {
	path := s.path("saved", step, key)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("saving an original: %w", err)
	}
	if err := syncDir(s.path("saved")); err != nil {
		return err
	}
	if err := host.WriteFileAtomic(path, original, 0o600); err != nil {
		return fmt.Errorf("saving an original: %w", journalProblem(err))
	}
	return nil
}

// saved returns an original, or an error that is fs.ErrNotExist.
func (s *store) saved(step, key string) ([]byte, error) {
	data, err := os.ReadFile(s.path("saved", step, key))
	if err != nil {
		return nil, fmt.Errorf("reading an original: %w", err)
	}
	return data, nil
}

// wipeSaved removes all originals.
func (s *store) wipeSaved() error { return wipeTree(s.path("saved")) }

// wipeSecrets removes the secrets kept on disk.
func (s *store) wipeSecrets() error { return wipeTree(s.path("secrets")) }

// wipeTree overwrites and removes every file below dir; dir itself stays.
func wipeTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || (err == nil && d.IsDir()) {
			return nil
		}
		if err != nil {
			return err
		}
		return wipe(path)
	})
	if err != nil {
		return fmt.Errorf("wiping %s: %w", dir, err)
	}
	return nil
}

// Purge removes a state folder with all that an engine kept in it, overwritten where that helps. An engine that lives keeps
// its folder.
func Purge(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := takeLock(filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := wipeTree(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the state folder: %w", err)
	}
	return nil
}

// wipe overwrites a file before it removes it. On a journaling or copy-on-write disk old blocks may stay, so
// this is care, not a promise.
func wipe(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = f.Write(make([]byte, info.Size()))
			_ = f.Sync()
			f.Close()
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("wiping %s: %w", path, err)
	}
	return syncDir(filepath.Dir(path))
}

// setAside renames a file that cannot be read, so that it is neither lost nor in the way.
func (s *store) setAside(name string) error {
	if err := os.Rename(s.path(name), s.path(name+".unreadable")); err != nil {
		return fmt.Errorf("setting %s aside: %w", name, err)
	}
	return syncDir(s.dir)
}
