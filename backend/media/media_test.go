package media

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
	"touchdown/backend/media/volume"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/test/race"
	"touchdown/test/wait"
)

// TestMain lets this program be the reading process, as cmd/touchdown does. Such a process ends with syscall.Exit: with -race, os.Exit
// sleeps for one second (atexit_sleep_ms).
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == WriterCommand {
		if err := ServeWriter(os.Stdin, os.NewFile(3, "order"), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == ReaderCommand {
		status, err := os.Open("/proc/self/status") // while it can be opened
		if err == nil {
			err = Serve(os.Stdin, os.NewFile(3, "order"), os.Stdout)
		}
		if err == nil {
			err = modest(status)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		syscall.Exit(0)
	}
	os.Exit(m.Run())
}

// most is the memory that a reading process may have had, in KiB.
const most = 64 << 10

// modest wants that. What the kernel tells of a process that has ended has the memory of the one that started it in it, too.
func modest(status *os.File) error {
	text, err := io.ReadAll(status)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "VmHWM:" {
			continue
		}
		if had, err := strconv.Atoi(words[1]); err != nil || had > most*race.Memory {
			return fmt.Errorf("TOO MUCH MEMORY: %s KiB", words[1])
		}
		return nil
	}
	return errors.New("TOO MUCH MEMORY: it is not told")
}

// image is a medium as bytes.
func image(t testing.TB, format string, d *envelope.Document, signed []byte) []byte {
	t.Helper()
	i, err := Make(format, d, signed)
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(i.Head), make([]byte, i.Size-int64(len(i.Head)))...)
}

func TestInspect(t *testing.T) {
	d := envelope.New("SN1")
	for _, format := range Formats() {
		path := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(path, image(t, format, &d, []byte("signed")), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Inspect(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		about := c.Find("readme.txt")
		if e := c.Find(EnvelopeFile); e == nil || string(e.Data) != "signed" || about == nil || about.Data != nil || c.Label != Label {
			t.Errorf("%s: %+v", format, c)
		}
	}
	if _, err := Make("ext4", &d, nil); err == nil {
		t.Error("there is a format ext4")
	}
}

func TestWhatCannotBeInspected(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir(), "/dev/null", "/nowhere"} {
		if _, err := Inspect(t.Context(), path); problem.From(err).Code != "MED-DEAD" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestAnswersThatCannotBe: a volume that took the reading process over gains nothing by what it answers.
func TestAnswersThatCannotBe(t *testing.T) {
	entry := func(e volume.Entry) reply {
		return reply{Content: &volume.Content{Kind: volume.FAT, Entries: []volume.Entry{e}}}
	}
	good := volume.Entry{Path: EnvelopeFile, Size: 2, Data: []byte("ab")}
	answer := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if _, _, err := understand(answer(entry(good)), siteFiles()); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string][]byte{
		"nothing": nil, "no content": []byte("{}"), "unknown key": []byte(`{"more":1}`), "cut": answer(entry(good))[:20],
		"path up":      answer(entry(volume.Entry{Path: "../etc/passwd"})),
		"root":         answer(entry(volume.Entry{Path: "/etc/passwd"})),
		"control":      answer(entry(volume.Entry{Path: "a\x1b[2J"})),
		"not asked":    answer(entry(volume.Entry{Path: "other", Size: 1, Data: []byte("a")})),
		"other size":   answer(entry(volume.Entry{Path: EnvelopeFile, Size: 1, Data: []byte("ab")})),
		"label":        answer(reply{Content: &volume.Content{Label: "\x1b[2J"}}),
		"many entries": answer(reply{Content: &volume.Content{Entries: make([]volume.Entry, volume.MaxEntries+1)}}),
	} {
		if _, _, err := understand(text, siteFiles()); problem.From(err).Code != "MED-HALT" {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err := understand(answer(reply{Problem: &told{Code: "MED-BADLY-NAMED", Summary: message.Data(strings.Repeat("x", 1000)), Fix: message.Data("y"), Cause: message.Data(strings.Repeat("z", 1000))}}), siteFiles())
	if p := problem.From(err); len(p.Code) > 8 || len(p.Summary.String()) > 500 || len(p.Err.Error()) > 500 {
		t.Errorf("%v", err)
	}
}

// loop makes a block device of a file.
func loop(t *testing.T, size int64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, size)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", file).Output()
	if err != nil {
		wait.Unable(t, "there is no loop device: %v", err)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if err := exec.Command("losetup", "--detach", device).Run(); err != nil {
			t.Error(err)
		}
	})
	return device
}

func TestWriteToADevice(t *testing.T) {
	device := loop(t, 32<<20)
	d := envelope.New("SN1")
	i, err := Make(volume.FAT, &d, []byte("signed"))
	if err != nil {
		t.Fatal(err)
	}
	both := Allow{Content: true, FixedDisk: true}
	if err := WriteTo(device, i, Allow{Content: true}); problem.From(err).Code != "MED-HARD" {
		t.Errorf("a disk that is not a stick was written to: %v", err)
	}
	if err := WriteTo(device, i, Allow{FixedDisk: true}); err != nil {
		t.Fatal(err)
	}
	if c, err := Inspect(t.Context(), device); err != nil || c.Find(EnvelopeFile) == nil {
		t.Errorf("%v, %v", c, err)
	}
	if err := WriteTo(device, i, Allow{FixedDisk: true}); problem.From(err).Code != "MED-FULL" {
		t.Errorf("what it held was overwritten: %v", err)
	}
	if err := WriteTo(device, i, both); err != nil {
		t.Error(err)
	}
	// Whoever mounts a device holds it like this.
	holder, err := os.OpenFile(device, os.O_RDONLY|unix.O_EXCL, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteTo(device, i, both); problem.From(err).Code != "MED-BUSY" {
		t.Errorf("a device in use was overwritten: %v", err)
	}
	_ = holder.Close()
	if err := WriteTo(loop(t, 1<<20), i, both); problem.From(err).Code != "MED-SMAL" {
		t.Error(err)
	}
	if err := WriteTo("/dev/null", i, both); problem.From(err).Code != "MED-WRT" {
		t.Error(err)
	}
}

// TestAnExchangedVolume: the writing process itself looks for the document, and writes nothing where it finds another one.
func TestAnExchangedVolume(t *testing.T) {
	image, err := volume.WriteFAT(Label, []volume.File{{Name: EnvelopeFile, Data: []byte("another document")}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "volume")
	is := append(bytes.Clone(image.Head), make([]byte, image.Size-int64(len(image.Head)))...)
	if err := os.WriteFile(file, is, 0o600); err != nil {
		t.Fatal(err)
	}
	device, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	report := []volume.File{{Name: "report.txt", Data: []byte("landed")}}
	names, err := Known{}.write(t.Context(), device, orderFor([]byte("the document"), report))
	if problem.From(err).Code != "MED-XCHG" {
		t.Errorf("%v, %v", names, err)
	}
	known, left := Of(host.Open(host.Options{Root: t.TempDir()})), &Left{}
	used := Leaving{ID: "the id", Used: &volume.File{Name: UsedFile, Data: []byte("used")}}
	if err := overwrite(t.Context(), known, device, []byte("the document"), nil, used, left); problem.From(err).Code != "MED-XCHG" || left.Overwritten {
		t.Errorf("%+v, %v", left, err)
	}
	if later := unsure(known, "the id"); later == nil || later.Stays == nil {
		t.Errorf("later it is told %+v", later)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, is) {
		t.Errorf("it was written to: %v", err)
	}
	if names, err = (Known{}).write(t.Context(), device, orderFor([]byte("another document"), report)); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

// TestADeviceThatDoesNotAnswer: it holds a Leave up no longer than a limit, or the end of the engine, and no second one begins until it
// answers.
func TestADeviceThatDoesNotAnswer(t *testing.T) {
	w := NewWatcher(host.Open(host.Options{Root: t.TempDir()}))
	answers := make(chan struct{})
	leave := func() (*Left, error) {
		<-answers
		return &Left{Medium: "SITECONFIG"}, nil
	}
	if left, err := w.leaveWithin(t.Context(), time.Millisecond, leave); left != nil || problem.From(err).Code != "MED-WERR" || !w.Waiting() {
		t.Fatalf("%v, %v", left, err)
	}
	second := func() (*Left, error) {
		t.Error("a second one begins")
		return nil, nil
	}
	if _, err := w.leaveWithin(t.Context(), time.Hour, second); problem.From(err).Code != "MED-WERR" {
		t.Error(err)
	}
	if left, err := w.Leave(t.Context(), Leaving{}); left != nil || problem.From(err).Code != "MED-WERR" {
		t.Errorf("%v, %v", left, err)
	}
	close(answers)
	wait.Until(t, "another one that may begin", func() bool { return !w.Waiting() })
	if left, err := w.leaveWithin(t.Context(), time.Hour, leave); err != nil || left.Medium != "SITECONFIG" || w.Waiting() {
		t.Errorf("%v, %v", left, err)
	}
	answers = make(chan struct{})
	defer close(answers)
	ctx, end := context.WithCancel(t.Context())
	end()
	if left, err := w.leaveWithin(ctx, time.Hour, leave); left != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", left, err)
	}
}

// TestWhatIsWrittenTo: what is open is judged, not its name: on a node only a disk that can be pulled out.
func TestWhatIsWrittenTo(t *testing.T) {
	node, folder := Of(host.Open(host.Options{})), Of(host.Open(host.Options{Root: t.TempDir()}))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	judged := func(k Known, path string) string {
		t.Helper()
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := k.mayWrite(f); err != nil {
			return problem.From(err).Code
		}
		return ""
	}
	for path, want := range map[string][2]string{file: {"MED-XCHG", ""}, "/dev/null": {"MED-XCHG", "MED-XCHG"}, t.TempDir(): {"MED-XCHG", "MED-XCHG"}} {
		if got := [2]string{judged(node, path), judged(folder, path)}; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	device := loop(t, 1<<20)
	if got := judged(folder, device); got != "MED-XCHG" {
		t.Errorf("a fixed disk: %q", got)
	}
	var st unix.Stat_t
	if err := unix.Stat(device, &st); err != nil {
		t.Fatal(err)
	}
	sys := folder.machine.Path(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)))
	if err := errors.Join(os.MkdirAll(sys, 0o755), os.WriteFile(filepath.Join(sys, "removable"), []byte("1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := judged(folder, device); got != "" {
		t.Errorf("a stick: %q", got)
	}
}

// TestADriveThatDoesNotOpen: it holds a look up no longer than its time, and what opens late is closed.
func TestADriveThatDoesNotOpen(t *testing.T) {
	late, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan struct{})
	_, err = openWithin(time.Millisecond, func() (*os.File, error) { <-answers; return late, nil })
	if problem.From(err).Code != "MED-DEAD" {
		t.Error(err)
	}
	close(answers)
	wait.Until(t, "the drive to be closed", func() bool {
		_, err := late.Stat()
		return err != nil
	})
}
