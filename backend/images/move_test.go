package images

import (
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/backend/layout"
)

const (
	asks   = layout.ImagesState + "/move"
	conf   = "/etc/containers/storage.conf"
	naming = "[storage.options]\nadditionalimagestores = [\"" + Store + "\"]\n"
	bootID = "/proc/sys/kernel/random/boot_id"
)

// moving is a node with three images and an empty image store that was asked in its boot "one" to move, and begins boot "two".
func moving(t *testing.T) (m *host.Machine, root string) {
	t.Helper()
	root = t.TempDir()
	storeOf(t, root, "a", "b", "c")
	m = host.Open(host.Options{Root: root, Exec: nothing})
	if err := AskMove(m); code(err) != "CTR-LACK" {
		t.Errorf("without a store: %v", err)
	}
	if _, err := layerstore.Init(filepath.Join(root, StoreDir)); err != nil {
		t.Fatal(err)
	}
	write(t, root, bootID, "one\n")
	write(t, root, conf, naming)
	if err := KeepPrimary(m); err != nil {
		t.Fatal(err)
	}
	if err := AskMove(m); err != nil {
		t.Fatal(err)
	}
	// The boot that asks does not move, whoever starts the unit again.
	if err := Boot(t.Context(), m); err != nil || !MoveAsked(m) || inPrimary(t, root) != 3 {
		t.Fatalf("in the same boot: %v", err)
	}
	write(t, root, bootID, "two\n")
	return m, root
}

func inPrimary(t *testing.T, root string) int {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(root, Primary))
	if err != nil {
		t.Fatal(err)
	}
	return len(s.Images)
}

func TestBootMoves(t *testing.T) {
	m, root := moving(t)
	if err := Boot(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	done, err := LoadMoved(m)
	if err != nil || done.Failed.String() != "" || done.Images != 3 || done.Layers != 4 || done.Boot != "two" || inPrimary(t, root) != 0 {
		t.Errorf("%v: %+v, %d images are left", err, done, inPrimary(t, root))
	}
	p := &layerstore.Store{Dir: filepath.Join(root, StoreDir)}
	if now, err := p.Current(); err != nil || len(now.Images) != 3 || now.N != done.Generation {
		t.Errorf("%v: the store has %+v", err, now)
	}
	if MoveAsked(m) || len(Notices(m)) > 0 {
		t.Errorf("it is asked for still, or told as a fault: %q", Notices(m))
	}
	// The boot that moved is the first with what it made.
	good := Status{Generation: done.Generation, Mounted: true, Named: true, Boot: "two"}
	if retired, err := retire(t.Context(), m, good); err != nil || !retired {
		t.Errorf("after the good boot: %v %v", retired, err)
	}
}

func TestBootDoesNotMoveWhatWouldBeLost(t *testing.T) {
	for want, change := range map[string]func(root string, m *host.Machine) error{
		"storage.conf does not name it": func(root string, _ *host.Machine) error { write(t, root, conf, "[storage]\n"); return nil },
		"CRI-O has been started":        func(root string, _ *host.Machine) error { write(t, root, cri.Socket, ""); return nil },
		"empty its own store":           func(_ string, m *host.Machine) error { return m.Remove(repairFile) },
		"is neither in": func(root string, m *host.Machine) error {
			return m.Remove(Primary + "/overlay-layers/layers.json")
		},
	} {
		m, root := moving(t)
		if err := change(root, m); err != nil {
			t.Fatal(err)
		}
		before, err := (&layerstore.Store{Dir: filepath.Join(root, StoreDir)}).Current()
		if err != nil {
			t.Fatal(err)
		}
		err = Boot(t.Context(), m)
		done, lost := LoadMoved(m)
		if err == nil || lost != nil || !strings.Contains(done.Failed.String(), want) || m.Exists(asks) {
			t.Errorf("%s: %v, %v, %+v", want, err, lost, done)
		}
		if told := Notices(m); len(told) != 1 || !strings.Contains(told[0].String(), done.Failed.String()) {
			t.Errorf("%s: told is %q", want, told)
		}
		if now, err := (&layerstore.Store{Dir: filepath.Join(root, StoreDir)}).Current(); err != nil || now.N != before.N {
			t.Errorf("%s: generation %d, before %d; %v", want, now.N, before.N, err)
		}
	}
}
