package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Cache remembers on the disk which layers were found whole. A layer is known by its id, its digest and the identity of
// its folder and its tar-split: a layer that was made again is verified again. What changes behind the file system's back is
// seen only when the layer is read again, see MaxAge.
type Cache struct {
	MaxAge time.Duration // after which a layer is read again; 0: never

	mu    sync.Mutex
	path  string
	known map[string]time.Time
}

// verified is one line of the file.
type verified struct {
	Layer string    `json:"layer"`
	Key   string    `json:"key"`
	At    time.Time `json:"at"`
}

// OpenCache reads the file, which need not be there. Lines that are torn or of nobody's writing are skipped.
func OpenCache(path string) (*Cache, error) {
	c := &Cache{path: path, known: map[string]time.Time{}}
	data, err := readBounded(path, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is verified: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		var v verified
		if json.Unmarshal([]byte(line), &v) == nil && v.Key != "" {
			c.known[v.Key] = v.At
		}
	}
	return c, nil
}

func (c *Cache) has(s *Store, l Layer) bool {
	if c == nil {
		return false
	}
	key, err := s.identity(l)
	if err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.known[key]
	return known && (c.MaxAge == 0 || time.Since(at).Abs() < c.MaxAge) // a time of the future is from before the clock was set back
}

// put notes that a layer is whole.
func (c *Cache) put(s *Store, l Layer) error {
	if c == nil {
		return nil
	}
	key, err := s.identity(l)
	if err != nil {
		return err
	}
	v := verified{l.ID, key, time.Now().UTC()}
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing what is verified: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[key] = v.At
	// A wipe of what Touchdown keeps takes the folder away while a store is read, which it leaves.
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("making the folder of what is verified: %w", err)
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening what is verified: %w", err)
	}
	// The line begins again: a torn one before it must not take it along.
	if _, err := f.Write(append([]byte("\n"), append(line, '\n')...)); err != nil {
		f.Close()
		return fmt.Errorf("writing what is verified: %w", err)
	}
	if err := f.Close(); err != nil { // not synced: what is lost is verified again
		return fmt.Errorf("closing what is verified: %w", err)
	}
	return nil
}

// identity tells a layer's folder from another one of the same name.
func (s *Store) identity(l Layer) (string, error) {
	var diff, split unix.Stat_t
	if err := unix.Lstat(filepath.Join(s.files().layerPath(l.ID), "diff"), &diff); err != nil {
		return "", fmt.Errorf("reading the attributes of a layer: %w", err)
	}
	if err := unix.Lstat(s.files().splitPath(l.ID), &split); err != nil {
		return "", fmt.Errorf("reading the attributes of a tar-split: %w", err)
	}
	return fmt.Sprintf("%s %s %d %d.%09d %d %d %d.%09d", l.ID, l.DiffDigest, diff.Ino, diff.Ctim.Sec, diff.Ctim.Nsec,
		split.Ino, split.Size, split.Mtim.Sec, split.Mtim.Nsec), nil
}
