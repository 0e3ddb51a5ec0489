package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
)

// keeping is the file in which long runs note the landings that are done, so that a run that was stopped goes on there
// (CRASH_KEEP). It counts for one commit, seed and number of faults; with another the count begins again.
type keeping struct {
	mu   sync.Mutex
	file string // empty: nothing is kept

	Commit   string         `json:"commit"`
	Seed     uint64         `json:"seed"`
	Asked    int            `json:"asked"`    // faults
	Dealt    map[string]int `json:"dealt"`    // faults by kind, in the landings that ended right
	Landings map[int]string `json:"landings"` // by number: "right", or what went wrong
}

func openKeeping(t *testing.T, n int, seed uint64) *keeping {
	t.Helper()
	k := &keeping{file: os.Getenv("CRASH_KEEP")}
	if k.file != "" {
		data, err := os.ReadFile(k.file)
		if err == nil {
			err = json.Unmarshal(data, k)
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatalf("reading what earlier runs did: %v", err)
		}
	}
	if commit := os.Getenv("CRASH_COMMIT"); k.Commit != commit || k.Seed != seed || k.Asked != n || k.Landings == nil {
		k.Commit, k.Seed, k.Asked = commit, seed, n
		k.Dealt, k.Landings = map[string]int{}, map[int]string{}
	}
	if len(k.Landings) > 0 {
		t.Logf("goes on: %s", k)
	}
	return k
}

// right tells whether an earlier run did this landing and it ended right.
func (k *keeping) right(i int) bool { return k.Landings[i] == "right" }

func (k *keeping) add(t *testing.T, i int, struck []fault, err error) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == "" {
		return
	}
	if k.Landings[i] = "right"; err != nil {
		k.Landings[i] = err.Error()
	} else {
		for _, b := range struck {
			k.Dealt[string(b.kind)]++
		}
	}
	data, err := json.MarshalIndent(k, "", "  ")
	if err == nil {
		err = os.WriteFile(k.file, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Errorf("keeping what was done: %v", err)
	}
}

func (k *keeping) String() string {
	wrong := 0
	for i := range k.Landings {
		if !k.right(i) {
			wrong++
		}
	}
	return fmt.Sprintf("commit %s, seed %d: %d landings, %d wrong, faults injected in the others %v", k.Commit, k.Seed, len(k.Landings), wrong, k.Dealt)
}
