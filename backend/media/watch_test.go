package media_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/backend/envelope"
	"touchdown/backend/host/hosttest"
	"touchdown/backend/layout"
	"touchdown/backend/media"
	"touchdown/test/stick"
	"touchdown/test/wait"
)

const config = "apiVersion: touchdown.dev/v1alpha1\nkind: SiteConfig\nspec:\n  clusterName: store0042\n  baseDomain: example.com\n"

// socket is a machine with serial number SN1 that trusts a key, and what watches its sockets.
type socket struct {
	*hosttest.Fake
	t      *testing.T
	key    envelope.SigningKey
	known  media.Known
	w      *media.Watcher
	limits *media.Limits        // of a look, in place of those of a node
	looked chan []*media.Medium // what each look found
}

func newSocket(t *testing.T) *socket {
	s := &socket{Fake: hosttest.New(t), t: t, looked: make(chan []*media.Medium)}
	s.File("/sys/class/dmi/id/product_serial", "SN1\n")
	var public []byte
	s.key, public = stick.Key(t)
	s.known = media.Of(s.Machine)
	if _, err := s.known.Lay(public); err != nil {
		t.Fatal(err)
	}
	return s
}

// watch returns the watcher of the sockets, which it starts once.
func (s *socket) watch() *media.Watcher {
	if s.w != nil {
		return s.w
	}
	w := media.NewWatcher(s.Machine)
	w.Every = time.Millisecond
	if s.limits != nil {
		w.Limits = *s.limits
	}
	s.w = w
	ctx, end := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	s.t.Cleanup(func() { end(); <-done })
	go func() {
		defer close(done)
		w.Watch(ctx, func() media.Want { return media.Want{Sites: true} }, func() {
			select {
			case s.looked <- w.Found():
			case <-ctx.Done():
			}
		})
	}()
	return w
}

// sees waits until a look finds what it should.
func (s *socket) sees(what string, ok func([]*media.Medium) bool) []*media.Medium {
	s.t.Helper()
	late := time.After(wait.Timeout(20 * time.Second))
	for {
		select {
		case found := <-s.looked:
			if ok(found) {
				return found
			}
		case <-late:
			s.t.Fatalf("never seen: %s", what)
		}
	}
}

func count(n int) func([]*media.Medium) bool {
	return func(found []*media.Medium) bool { return len(found) == n }
}

// plug puts the medium of a document in.
func (s *socket) plug(name string, d envelope.Document, lock envelope.Lock) {
	s.t.Helper()
	stick.Plug(s.t, s.Root(), name, stick.Image(s.t, d, config, lock, s.key))
}

func nodeLock(t *testing.T, known media.Known) envelope.Lock {
	t.Helper()
	recipient, err := known.Recipient()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := envelope.NodeLock(recipient)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

// TestLateStick: a stick that comes late is found, opens with the node's key, is used once, and is forgotten when it is pulled out.
func TestLateStick(t *testing.T) {
	s := newSocket(t)
	w := s.watch()
	s.sees("nothing", count(0))
	d := envelope.New("sn1")
	d.Unattended = true
	s.plug("sdb", d, nodeLock(t, s.known))
	found := s.sees("the stick", count(1))[0]
	if found.Refused != nil || found.Name() != "SITECONFIG (sdb)" || !found.Unattended() || found.Signer != s.key.ID() || found.ID() != d.ID {
		t.Fatalf("%+v, %v", found, found.Refused)
	}
	// What was judged is what is used, whatever the stick holds by then.
	if err := os.WriteFile(filepath.Join(s.Root(), "dev/sdb"), stick.Image(t, envelope.New("SN1"), "other", envelope.Lock{}, s.key), 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := w.Take(d.ID, "")
	if err != nil || string(taken.Text) != config || taken.Source != "stick SITECONFIG" {
		t.Fatalf("%+v, %v", taken, err)
	}
	if err := taken.Use(); err != nil {
		t.Fatal(err)
	}
	if err := taken.Use(); code(err) != "MED-USED" {
		t.Errorf("used twice: %v", err)
	}
	if _, err := w.Take(d.ID, ""); code(err) != "MED-USED" {
		t.Errorf("taken twice: %v", err)
	}
	s.sees("that it was used", func(found []*media.Medium) bool {
		return len(found) == 1 && found[0].Refused != nil && found[0].Refused.Code == "MED-USED"
	})
	if again, err := media.NewWatcher(s.Machine).Take(d.ID, ""); code(err) != "MED-AWAY" {
		t.Errorf("nobody looked: %v, %v", again, err)
	}
	stick.Pull(t, s.Root(), "sdb")
	s.sees("that it is gone", count(0))
	if _, err := w.Take(d.ID, ""); code(err) != "MED-AWAY" {
		t.Errorf("it is not there: %v", err)
	}
}

// TestPassphrase: only the right one opens, and the wrong one uses nothing up.
func TestPassphrase(t *testing.T) {
	s := newSocket(t)
	lock, passphrase, err := envelope.GeneratedLock()
	if err != nil {
		t.Fatal(err)
	}
	d := envelope.New("")
	s.plug("sdb", d, lock)
	w := s.watch()
	s.sees("the stick", count(1))
	for _, wrong := range []string{"", "AAAAA-AAAAA-AAAAA-AAAAA"} {
		if taken, err := w.Take(d.ID, wrong); code(err) != "MED-PASS" {
			t.Errorf("%q: %v, %v", wrong, taken, err)
		}
	}
	if taken, err := w.Take(d.ID, passphrase); err != nil || string(taken.Text) != config {
		t.Errorf("%v, %v", taken, err)
	}
}

// TestRefusedMedia: each is told by its code, none opens, and a disk of the machine itself is never read.
func TestRefusedMedia(t *testing.T) {
	other, _ := stick.Key(t)
	signed := func(t *testing.T, s *socket, change func(*envelope.Document)) []byte {
		d := envelope.New("SN1")
		change(&d)
		return stick.Image(t, d, config, envelope.Lock{}, s.key)
	}
	for name, test := range map[string]struct {
		code  string
		image func(*testing.T, *socket) []byte
	}{
		"another machine": {"MED-SER", func(t *testing.T, s *socket) []byte {
			return signed(t, s, func(d *envelope.Document) { d.Serial = "SN2" })
		}},
		"another key": {"MED-UKEY", func(t *testing.T, _ *socket) []byte {
			return stick.Image(t, envelope.New("SN1"), config, envelope.Lock{}, other)
		}},
		"changed": {"MED-BSGN", func(t *testing.T, s *socket) []byte {
			image := signed(t, s, func(*envelope.Document) {})
			first := &image[bytes.Index(image, []byte(`"sig":"`))+len(`"sig":"`)]
			if *first == 'A' {
				*first = 'B'
			} else {
				*first = 'A'
			}
			return image
		}},
		"not signed": {"MED-NSGN", func(t *testing.T, _ *socket) []byte {
			return stick.Volume(t, media.PlainFile, []byte(config))
		}},
		"empty": {"MED-SHPE", func(t *testing.T, _ *socket) []byte { return stick.Volume(t, media.EnvelopeFile, nil) }},
		"damaged": {"MED-BAD", func(t *testing.T, s *socket) []byte {
			image := signed(t, s, func(*envelope.Document) {})
			return image[:len(image)/2] // as of a stick that is pulled out while it is read: its end is not there
		}},
		"revoked by a medium": {"MED-RVKD", func(t *testing.T, s *socket) []byte {
			public := s.Content(layout.Media + "/trusted.pub")
			_, otherPublic, err := other.Files()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.known.Lay([]byte(public + string(otherPublic))); err != nil {
				t.Fatal(err)
			}
			d := envelope.New("SN1")
			d.Revoked = []string{s.key.ID()}
			stick.Plug(t, s.Root(), "sdc", stick.Image(t, d, config, envelope.Lock{}, other))
			w := s.watch()
			s.sees("the stick that revokes", count(1))
			taken, err := w.Take(d.ID, "")
			if err == nil {
				err = taken.Use()
			}
			if err != nil {
				t.Fatal(err)
			}
			stick.Pull(t, s.Root(), "sdc")
			s.sees("nothing", count(0))
			return signed(t, s, func(*envelope.Document) {})
		}},
		"no record of what was used": {"MED-REC", func(t *testing.T, s *socket) []byte {
			if err := s.Remove(layout.Media + "/used"); err != nil {
				t.Fatal(err)
			}
			return signed(t, s, func(*envelope.Document) {})
		}},
		"a record that was cut": {"MED-REC", func(t *testing.T, s *socket) []byte {
			s.File(layout.Media+"/used", "")
			return signed(t, s, func(*envelope.Document) {})
		}},
		"a record that lost a line": {"MED-REC", func(t *testing.T, s *socket) []byte {
			w := s.watch()
			s.plug("sdc", envelope.New("SN1"), envelope.Lock{})
			taken, err := w.Take(s.sees("the first", count(1))[0].ID(), "")
			if err == nil {
				err = taken.Use()
			}
			if err != nil {
				t.Fatal(err)
			}
			stick.Pull(t, s.Root(), "sdc")
			s.sees("nothing", count(0))
			first, _, _ := strings.Cut(s.Content(layout.Media+"/used"), "\n")
			s.File(layout.Media+"/used", first+"\n")
			return signed(t, s, func(*envelope.Document) {})
		}},
		"a node without keys": {"MED-UKEY", func(t *testing.T, s *socket) []byte {
			if err := s.known.Forget(); err != nil {
				t.Fatal(err)
			}
			return signed(t, s, func(*envelope.Document) {})
		}},
		"something else": {"", func(t *testing.T, _ *socket) []byte { return stick.Volume(t, "photo.jpg", []byte("x")) }},
		"no file system": {"", func(*testing.T, *socket) []byte { return make([]byte, 1<<20) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			image := test.image(t, s)
			stick.Plug(t, s.Root(), "sdb", image)
			stick.Plug(t, s.Root(), "nvme0n1", signed(t, s, func(*envelope.Document) {}))
			w := s.watch()
			n := 1
			if test.code == "" {
				n = 0
			}
			found := s.sees("what the stick is", count(n))
			if len(w.Usable()) > 0 {
				t.Error("it can be used")
			}
			for _, f := range found {
				if f.Device != "sdb" || f.Refused == nil || f.Refused.Code != test.code || f.Refused.Fix.String() == "" {
					t.Errorf("%s: %v", f.Name(), f.Refused)
				}
				if strings.Contains(f.Refused.Error(), "store0042") {
					t.Errorf("it tells what is on it: %v", f.Refused)
				}
				want := test.code
				if f.ID() == "" { // nothing on it is trusted, and so nothing names it
					want = "MED-AWAY"
				}
				if taken, err := w.Take(f.ID(), ""); code(err) != want {
					t.Errorf("taken: %v, %v", taken, err)
				}
			}
		})
	}
}

// TestOneImageOnDiskAndPartition: a disk whose first partition is the same image is one medium; two documents are two.
func TestOneImageOnDiskAndPartition(t *testing.T) {
	s := newSocket(t)
	image := stick.Image(t, envelope.New("SN1"), config, envelope.Lock{}, s.key)
	stick.Plug(t, s.Root(), "sdb", image)
	stick.Plug(t, s.Root(), "sdc", image)
	w := s.watch()
	if found := s.sees("it", func(found []*media.Medium) bool { return len(found) > 0 }); len(found) != 1 {
		t.Errorf("%d media", len(found))
	}
	s.plug("sdd", envelope.New("SN1"), envelope.Lock{})
	s.sees("both", count(2))
	if len(w.Usable()) != 2 {
		t.Error("one of them cannot be used")
	}
}

// TestNobodyWants: nothing is read while media are of no use, and what was found before is forgotten.
func TestNobodyWants(t *testing.T) {
	s := newSocket(t)
	s.plug("sdb", envelope.New("SN1"), envelope.Lock{})
	w := media.NewWatcher(s.Machine)
	w.Every = time.Millisecond
	ctx, end := context.WithCancel(t.Context())
	looks := 0
	w.Watch(ctx, func() media.Want { return media.Want{Sites: looks < 1} }, func() {
		switch looks++; {
		case looks == 1 && len(w.Found()) != 1:
			t.Error("it was not found")
		case looks == 2 && len(w.Found()) != 0:
			t.Error("it was not forgotten")
		case looks == 2:
			end()
		}
	})
	end()
}

// TestOneDiskCostsSoMuch: the volumes of one disk are read up to a number, an amount and a time. What is left out is told, and the other
// sticks are read all the same.
func TestOneDiskCostsSoMuch(t *testing.T) {
	good := func(s *socket) []byte {
		return stick.Image(t, envelope.New("SN1"), config, envelope.Lock{}, s.key)
	}
	names := func(found []*media.Medium) string {
		var all []string
		for _, f := range found {
			code := "usable"
			if f.Refused != nil {
				code = f.Refused.Code
			}
			all = append(all, f.Device+" "+code)
		}
		return strings.Join(all, ", ")
	}
	for name, test := range map[string]struct {
		plug  func(*socket)
		limit func(*media.Limits)
		want  string
	}{
		"many volumes": {func(s *socket) {
			stick.Plug(t, s.Root(), "sdb", make([]byte, 1<<20))
			image := good(s)
			for i := range 3 {
				stick.Plug(t, s.Root(), fmt.Sprintf("sdb%d", i+1), image)
			}
		}, func(l *media.Limits) { l.Volumes = 3 }, "sdb1 usable, sdb MED-UNRD, sdc usable"},
		"many bytes": {func(s *socket) {
			stick.Plug(t, s.Root(), "sdb", stick.Volume(t, media.PlainFile, make([]byte, 1900<<10)))
			stick.Plug(t, s.Root(), "sdb1", good(s))
		}, func(l *media.Limits) { l.Bytes = 1 << 20 }, "sdb MED-NSGN, sdb MED-UNRD, sdc usable"},
		"no time": {func(s *socket) {
			stick.Plug(t, s.Root(), "sdb", good(s))
		}, func(l *media.Limits) { l.Time = 0 }, "sdb MED-UNRD, sdc MED-UNRD"},
		"many disks": {func(s *socket) {
			stick.Plug(t, s.Root(), "sdb", good(s))
		}, func(l *media.Limits) { l.Disks = 1 }, "sdb usable, sdc MED-UNRD"},
		"a few": {func(s *socket) {
			stick.Plug(t, s.Root(), "sdb", make([]byte, 1<<20))
			stick.Plug(t, s.Root(), "sdb1", good(s))
		}, func(*media.Limits) {}, "sdb1 usable, sdc usable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSocket(t)
			limits := media.NewWatcher(s.Machine).Limits
			limits.Time = time.Hour // a slow machine is not what this is about
			test.limit(&limits)
			s.limits = &limits
			test.plug(s)
			s.plug("sdc", envelope.New("SN1"), envelope.Lock{})
			s.watch()
			found := s.sees("the media", func([]*media.Medium) bool { return true })
			if got := names(found); got != test.want {
				t.Errorf("%s, not %s", got, test.want)
			}
			for _, f := range found {
				if f.Refused != nil && f.Refused.Code == "MED-HALT" {
					t.Error(f.Refused.Err)
				}
				if f.Refused != nil && f.Refused.Code == "MED-UNRD" && !strings.Contains(f.Refused.Error(), "volumes of the disk "+f.Device) {
					t.Error(f.Refused)
				}
			}
		})
	}
}

// noDevice puts in a disk that does not open.
func noDevice(t *testing.T, root, name string) {
	t.Helper()
	stick.Plug(t, root, name, make([]byte, 1<<20))
	if err := os.Remove(filepath.Join(root, "dev", name)); err != nil {
		t.Fatal(err)
	}
}

// TestUnreadable: the drives that give nothing are named, and no others.
func TestUnreadable(t *testing.T) {
	s := newSocket(t)
	s.plug("sdb", envelope.New("SN1"), envelope.Lock{})
	stick.Plug(t, s.Root(), "sdc", make([]byte, 1<<20)) // something else
	damaged := stick.Volume(t, media.PlainFile, []byte(config))
	damaged[0x0d] = 3 // sectors of a cluster
	stick.Plug(t, s.Root(), "sdd", damaged)
	noDevice(t, s.Root(), "sda")
	found, err := media.Unreadable(t.Context(), s.Machine)
	var got []string
	for _, f := range found {
		got = append(got, f.Device+" "+f.Refused.Code)
	}
	if want := "[sda MED-DEAD sdd MED-BAD]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v", got, err)
	}
}

// TestADriveThatMayNotBeOpened: the console shows the name of a drive that Touchdown has no permission to open, until the drive is removed.
// Other media can still be used. A drive without a medium is not shown.
func TestADriveThatMayNotBeOpened(t *testing.T) {
	const denied = "/sys/bus/platform/drivers_probe" // nobody may read it, root neither
	if f, err := os.Open(denied); !errors.Is(err, fs.ErrPermission) {
		_ = f.Close()
		wait.Unable(t, "%s can be opened: %v", denied, err)
	}
	s := newSocket(t)
	s.plug("sdb", envelope.New("SN1"), envelope.Lock{})
	noDevice(t, s.Root(), "sda")
	noDevice(t, s.Root(), "sdc")
	if err := os.Symlink(denied, filepath.Join(s.Root(), "dev", "sdc")); err != nil {
		t.Fatal(err)
	}
	s.watch()
	var got []string
	for _, f := range s.sees("two drives", func(found []*media.Medium) bool { return len(found) > 1 }) {
		is := f.Device
		if f.Refused != nil {
			is += fmt.Sprintf(" %s %t", f.Refused.Code, f.Unread())
		}
		got = append(got, is)
	}
	if want := "[sdb sdc MED-DEAD true]"; fmt.Sprint(got) != want || len(s.watch().Usable()) != 1 {
		t.Errorf("%v, not %v; %d can be used", got, want, len(s.watch().Usable()))
	}
}
