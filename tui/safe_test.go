package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"touchdown/steps/view"
	"touchdown/test/wait"
)

// planted is what a terminal must never get.
const planted = "a\x1b]0;title\x07b\x1b]52;c;AAAA\x1b\\c\x1b[2J\x1b[?1049h\u009b2J\x9b2Jd\u202ecba\u200bz\roverwritten\x7f\x00\b\nnext"

// plant puts it behind every text below v that is not a name of a kind or state.
func plant(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + planted)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			plant(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			plant(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && v.Type() != reflect.TypeFor[time.Time]() {
				plant(v.Field(i))
			}
		}
	}
}

// onlyText fails where more than the console's own sequences and text would reach a terminal.
func onlyText(t *testing.T, what string, out []byte, ascii bool) {
	t.Helper()
	rest := string(sequences.ReplaceAll(out, nil))
	if !ascii {
		rest = shining.ReplaceAllString(rest, "")
	}
	for i, r := range rest {
		if !unicode.IsPrint(r) || ascii && r > unicode.MaxASCII {
			t.Errorf("%s writes %U: %.60q", what, r, rest[max(0, i-20):])
			return
		}
	}
}

// TestHostileTexts draws every scene, and prints every page of a line terminal, with planted texts in all that the engine says.
func TestHostileTexts(t *testing.T) {
	for _, s := range scenes() {
		evil := func(snap *view.Snapshot) { plant(reflect.ValueOf(snap).Elem()) }
		b := newBench(t, 80, 24, append(s.edits, evil)...)
		b.fake.log = []string{planted}
		b.press(s.keys...)
		for _, ascii := range []bool{true, false} {
			var out bytes.Buffer
			p := newPainter(&out, ascii, 0)
			painted{b.app, p}.View()
			p.flush()
			onlyText(t, s.name, out.Bytes(), ascii)
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			for _, edit := range append(s.edits, evil) {
				edit(&f.snap)
			}
			f.snap.Control = view.Control{Holder: "tty1" + planted}
			ctx, stop := context.WithCancel(wait.Within(t, time.Second))
			defer stop()
			out := begun{then: func() { time.AfterFunc(2*quiet, stop) }}
			_ = inText(ctx, f, io.MultiReader(strings.NewReader("?\n"), silence(ctx.Done())), &out)
			if out.text.Len() == 0 {
				t.Error("a line terminal shows nothing")
			}
			onlyText(t, "a line terminal", out.text.Bytes(), true)
		})
	}
}

// begun calls then when the first text is written to it.
type begun struct {
	text bytes.Buffer
	then func()
}

func (b *begun) Write(p []byte) (int, error) {
	if b.text.Len() == 0 {
		b.then()
	}
	return b.text.Write(p)
}

// silence is an input that nothing comes from.
type silence <-chan struct{}

func (s silence) Read([]byte) (int, error) { <-s; return 0, io.EOF }

// TestOneWayOut: only the painter, the terminal's own start and end, and Safe write to a terminal.
func TestOneWayOut(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	home := map[string]string{"os.Stdout": "options.go", "os.Stderr": "", "fmt.Print": "", "fmt.Fprint": "painter.go terminal.go talk.go safe.go", "io.WriteString(": "safe.go", ".Write(": "painter.go options.go"}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for word, homes := range home {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(data), word) && !strings.Contains(homes, file) {
				t.Errorf("%s has %s, which only %s may", file, word, homes)
			}
		}
	}
}
