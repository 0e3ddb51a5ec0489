package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"time"

	"touchdown/backend/health"
	"touchdown/backend/host"
)

// keptLive is how the cluster of a landed node was when it was looked at last, so that what changed is not forgotten with the last
// console, the engine or the boot. On the disk it follows its own checksum: what is damaged is as good as nothing.
type keptLive struct {
	Landing time.Time   `json:"landing"` // when the landing was started that it belongs to
	Live    health.Live `json:"live"`

	path string
}

const liveFile = "live.json"

// of forgets what belongs to another landing.
func (k *keptLive) of(landing time.Time) {
	if !k.Landing.Equal(landing) {
		*k = keptLive{path: k.path, Landing: landing}
	}
}

// lastLive reads what was kept in a state folder; nothing where that is not whole.
func lastLive(dir string) *keptLive {
	k := &keptLive{path: filepath.Join(dir, liveFile)}
	data, err := readKept(k.path)
	if err != nil {
		return k
	}
	sum, text, _ := bytes.Cut(data, []byte("\n"))
	if string(sum) != checksum(text) || json.Unmarshal(text, k) != nil {
		return &keptLive{path: k.path}
	}
	if _, err := json.Marshal(k); err != nil { // a time can be read that cannot be written, one 24 hours from UTC for example
		return &keptLive{path: k.path}
	}
	return k
}

// keep keeps a Live where it tells more than the one that is kept. One from while the API is away says nothing of most checks.
func (k *keptLive) keep(l health.Live) error {
	if !l.Pause.IsZero() || !l.Away.IsZero() {
		return nil
	}
	same := k.Live.Status == l.Status && k.Live.Well.Equal(l.Well) && reflect.DeepEqual(k.Live.Turns, l.Turns)
	k.Live = l
	if same {
		return nil
	}
	text, err := json.Marshal(k)
	if err == nil {
		err = host.WriteFileAtomic(k.path, append([]byte(checksum(text)+"\n"), text...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping how the cluster is: %w", err)
	}
	return nil
}
