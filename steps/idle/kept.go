package idle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/steps/site/pin"
)

// usual is how long nobody uses a console before it locks, where only the bake set a PIN: the default of the site config.
const usual = 10 * time.Minute

// The files in the engine's folder. What the site config says is kept apart from it, because the node keeps its lock when the
// secrets of the site config are wiped.
const (
	siteFile   = "console-lock.json"
	beforeFile = "console-before.json" // what counted before the job at work; absent when none is
	wrongFile  = "console-wrong"
)

// maxFile bounds what is read of one of the files, in bytes.
const maxFile = 4 << 10

// setting is a PIN and a time, each of which may be missing.
type setting struct {
	pin   pin.Hash
	after time.Duration
}

// over is the setting with what is missing in it taken from another one.
func (s setting) over(other setting) setting {
	return setting{cmp.Or(s.pin, other.pin), cmp.Or(s.after, other.after)}
}

func (s setting) time() time.Duration { return cmp.Or(s.after, usual) }

// kept is a setting on the disk.
type kept struct {
	PIN   string `json:"pin,omitempty"` // its bcrypt hash
	After string `json:"lockAfter,omitempty"`
}

func (s setting) encode() []byte {
	k := kept{PIN: string(s.pin)}
	if s.after > 0 {
		k.After = s.after.String()
	}
	data, _ := json.Marshal(k) // two texts
	return append(data, '\n')
}

// decode reads a setting. bad tells that there is one which makes no sense.
func decode(data []byte, err error) (s setting, bad bool) {
	if errors.Is(err, fs.ErrNotExist) {
		return setting{}, false
	}
	var k kept
	if err != nil || json.Unmarshal(data, &k) != nil || k.PIN != "" && !pin.Hash(k.PIN).Valid() {
		return setting{}, true
	}
	s.pin = pin.Hash(k.PIN)
	if k.After != "" {
		if s.after, err = time.ParseDuration(k.After); err != nil || s.after <= 0 {
			return setting{}, true
		}
	}
	return s, false
}

func readSite(dir string) (setting, bool) { return decode(readFile(dir, siteFile)) }

func readBaked(read func() ([]byte, error)) (setting, bool) {
	if read == nil {
		return setting{}, false
	}
	return decode(read())
}

// readFile reads a file of the engine's folder. A link is not followed, and a pipe does not block.
func readFile(dir, name string) ([]byte, error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, maxFile)
	n, err := f.Read(data)
	return data[:n], err
}

func keepSite(dir string, s setting) error { return keep(dir, siteFile, s.encode()) }

// keepBefore keeps a setting for Lock.Back; the first one of a job stays.
func keepBefore(dir string, s setting) error {
	if _, ok := readBefore(dir); ok {
		return nil
	}
	return keep(dir, beforeFile, s.encode())
}

// readBefore is what was kept, and whether something was. What cannot be read puts nothing back: a lock stays rather than opens.
func readBefore(dir string) (setting, bool) {
	data, err := readFile(dir, beforeFile)
	was, bad := decode(data, err)
	return was, err == nil && !bad
}

func forgetBefore(dir string) error {
	if dir == "" {
		return nil
	}
	err := os.Remove(filepath.Join(dir, beforeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping the lock of the consoles: %w", err)
	}
	return host.SyncDir(dir)
}

// readWrong is how many PINs in a row were wrong. A count that cannot be read is taken for many: whoever damaged it gains nothing.
func readWrong(dir string) int {
	data, err := readFile(dir, wrongFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	n, bad := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || bad != nil || n < 0 {
		return 1 << 10
	}
	return n
}

func keepWrong(dir string, n int) error { return keep(dir, wrongFile, []byte(strconv.Itoa(n)+"\n")) }

func keep(dir, name string, data []byte) error {
	if dir == "" {
		return nil
	}
	if err := host.WriteFileAtomic(filepath.Join(dir, name), data, 0o600); err != nil {
		return fmt.Errorf("keeping the lock of the consoles: %w", err)
	}
	return nil
}

// Baked reads what the bake left on a machine.
func Baked(m *host.Machine) (p pin.Hash, bad bool) {
	s, bad := readBaked(ReadBaked(m))
	return s.pin, bad
}

// ReadBaked reads the file that the bake left on a machine, for Options.
func ReadBaked(m *host.Machine) func() ([]byte, error) {
	return func() ([]byte, error) { return m.ReadFile(layout.ConsolePIN) }
}

// Bake leaves a PIN on a machine for the consoles of a site, until the site config sets another one.
func Bake(m *host.Machine, p pin.Hash) error {
	return m.WriteFile(layout.ConsolePIN, setting{pin: p}.encode(), 0o600)
}
