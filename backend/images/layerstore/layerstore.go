// Package layerstore keeps the seeded image store: every layer once, generations of lists that share them, and one link that
// says which generation CRI-O sees.
package layerstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/images/store"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

const (
	generationsDir = "generations"
	currentLink    = "current"  // CRI-O reads the store behind it
	previousLink   = "previous" // what was current before the last switch
	manifestFile   = "manifest.json"
	journalFile    = "journal.jsonl"
	lockFile       = "lock"
	part           = store.Part // not whole yet: removed by Recover
	old            = ".old"     // taken out: removed by Recover
	damaged        = ".damaged" // replaced under running containers: removed by Prune
)

// Store is a seeded store on the disk.
type Store struct {
	Dir     string
	Version string       // of this program, for the manifests
	Step    func(string) // told before each change that a crash could come between; for tests; may be nil

	// Wait is how long to wait for another Touchdown at work on the image store; zero: a minute, in which the look after a boot
	// has removed what it removes.
	Wait time.Duration
}

// Generation is one set of images. It never changes once it is there.
type Generation struct {
	N       int       `json:"generation"`
	Made    time.Time `json:"made"`
	Version string    `json:"version"` // of the program that made it
	Images  []Image   `json:"images"`
	Layers  []Layer   `json:"layers"`
}

// Image is what a generation holds of an image.
type Image struct {
	ID     string   `json:"id"`
	Digest string   `json:"digest"`
	Names  []string `json:"names"`
}

// Layer is what a generation holds of a layer.
type Layer struct {
	ID         string `json:"id"`
	DiffDigest string `json:"diffDigest"`
	Size       int64  `json:"size"` // bytes of its tar
}

// Init makes what is missing of an empty image store: generation 0 is a valid store without images, and current.
func Init(dir string) (*Store, error) {
	p := &Store{Dir: dir}
	for _, d := range []string{dir, p.disk().overlay(), filepath.Join(p.disk().overlay(), "l"), filepath.Join(dir, generationsDir)} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("making the image store: %w", err)
		}
	}
	if _, err := os.Readlink(filepath.Join(dir, currentLink)); err == nil {
		return p, nil
	}
	if _, err := os.Lstat(p.Root(0)); errors.Is(err, fs.ErrNotExist) {
		if err := p.write(staged{}, 0); err != nil {
			return nil, err
		}
	}
	if err := p.disk().point(currentLink, 0); err != nil {
		return nil, err
	}
	return p, store.SyncFS(filepath.Dir(dir))
}

// Open finds an image store that Init made.
func Open(dir string) (*Store, error) {
	p := &Store{Dir: dir}
	if _, err := p.disk().current(); err != nil {
		return nil, &problem.Problem{
			Code: "STR-NSED", Summary: message.F("There is no seeded image store at %s.", dir),
			Fix: message.T("Seed it first: touchdown images seed."), Err: err,
		}
	}
	return p, nil
}

// Empty makes a valid store without images in a folder: it lies beneath the mount of the real one, so that CRI-O starts
// when the mount fails.
func Empty(dir string) error {
	if err := store.Empty(dir); err != nil {
		return err
	}
	return store.SyncFS(dir)
}

// Root is the folder of a generation: a store of the storage library.
func (p *Store) Root(n int) string { return filepath.Join(p.Dir, generationsDir, strconv.Itoa(n)) }

// Store reads a generation.
func (p *Store) Store(ctx context.Context, n int) (*store.Store, error) {
	return store.Open(ctx, p.Root(n))
}

// Current is the generation that CRI-O sees.
func (p *Store) Current() (Generation, error) {
	n, err := p.disk().current()
	if err != nil {
		return Generation{}, err
	}
	return p.Generation(n)
}

// Generation reads what a generation holds.
func (p *Store) Generation(n int) (Generation, error) {
	var g Generation
	data, err := os.ReadFile(filepath.Join(p.Root(n), manifestFile))
	if err == nil {
		err = json.Unmarshal(data, &g)
	}
	if err == nil && g.N != n {
		err = fmt.Errorf("it says that it is %d", g.N)
	}
	if err != nil {
		return g, fmt.Errorf("reading generation %d: %w", n, err)
	}
	return g, nil
}

// Previous is the generation to go back to: the one that was current before the last switch. ok is false where there is
// none any more.
func (p *Store) Previous() (g Generation, ok bool, err error) {
	n, err := p.disk().pointed(previousLink)
	if errors.Is(err, fs.ErrNotExist) {
		return g, false, nil
	}
	if err != nil {
		return g, false, err
	}
	now, err := p.disk().current()
	if err != nil || n == now {
		return g, false, err
	}
	g, err = p.Generation(n)
	if errors.Is(err, fs.ErrNotExist) {
		return g, false, nil
	}
	return g, err == nil, err
}

// Switch makes a generation the current one: what opens the store afterwards sees it, whole. CRI-O reads the list of images
// again when it is restarted.
func (p *Store) Switch(ctx context.Context, n int) error {
	unlock, err := p.begin()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := p.Store(ctx, n); err != nil {
		return err
	}
	return p.journal().journaled(record{Op: "switch", Generation: n}, func() error { return p.disk().switchTo(n) })
}

// lockWait is four times what the look after a boot takes on an idle node. Who seeds has the lock for minutes: that is told, and not waited for.
const lockWait = time.Minute

// lock keeps a second Touchdown out: the engine and a command, or two commands.
func (p *Store) lock() (func(), error) {
	f, err := os.OpenFile(filepath.Join(p.Dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the image store's lock: %w", err)
	}
	for end := time.Now().Add(cmp.Or(p.Wait, lockWait)); ; time.Sleep(50 * time.Millisecond) {
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, &problem.Problem{
			Code: "STR-BUSY", Summary: message.T("Another Touchdown works on the seeded image store."),
			Fix: message.T("Wait until it has ended, then retry."), Err: err,
		}
	}
	return func() { f.Close() }, nil
}
