package tui

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const pictureDir = "../assets/pictures"

// TestPictures: the README's pictures are what the console draws today, all of them are shown, and there are no others.
// `make pictures` writes them again.
func TestPictures(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, s := range pictures() {
		known = append(known, s.name+".svg")
		t.Run(s.name, func(t *testing.T) {
			b := newBench(t, 80, 24, s.edits...)
			b.app.desk.theme = newTheme(false)
			b.press(s.keys...)
			f := b.app.frame(b.app.top(), 80, 24)
			if !strings.Contains(string(readme), "](assets/pictures/"+s.name+".svg)") {
				t.Error("the README does not show it")
			}
			current(t, filepath.Join(pictureDir, s.name+".svg"), picture(frame{page: f, w: 80, h: 24}))
		})
	}
	there, err := filepath.Glob(pictureDir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		if !slices.Contains(known, filepath.Base(file)) {
			t.Errorf("%s shows nothing that is drawn", file)
		}
	}
}

// current compares a file, or writes it.
func current(t *testing.T, file, want string) {
	t.Helper()
	if err := xml.Unmarshal([]byte(want), new(struct{ XMLName xml.Name })); err != nil {
		t.Errorf("no XML: %v", err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != want {
		t.Errorf("%s is not what the console draws (%v); look at it after `make pictures`", file, err)
	}
}

// Measures of a picture, in pixels.
const (
	cellWidth  = 9
	cellHeight = 19
	baseline   = 14 // of the letters, below a cell's upper edge
	margin     = 10
)

// palette is the sixteen colours of a Linux console, on black; the first is the terminal's own.
var palette = [...]string{
	"#d0d0d0", "#000", "#c04a48", "#3fa63f", "#b08a20", "#3a62c8", "#a060a0", "#3fa0a0", "#d0d0d0",
	"#6a7078", "#ff6b68", "#5fd75f", "#e5c453", "#6c9cff", "#d78bd7", "#5fd7d7", "#fff",
}

// painted16 is a colour of the palette: n counts from 1, 0 is the terminal's own.
func painted16(n attr, shines bool) string {
	if n != 0 && shines {
		n += 8
	}
	return palette[n]
}

// picture draws a frame as SVG: text stays text, each run of it as wide as its columns, whatever font there is.
func picture(f frame) string {
	var out strings.Builder
	w, h := f.w*cellWidth+2*margin, f.h*cellHeight+2*margin
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="monospace" font-size="15">`+"\n", w, h, w, h)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" rx="6" fill="#101418"/>`+"\n", w, h)
	for y, line := range f.lines {
		cells := parse(line, f.w, false)
		for x := 0; x < len(cells); {
			end := x
			for end < len(cells) && cells[end].a == cells[x].a {
				end++
			}
			run(&out, x, y, cells[x:end])
			x = end
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// run draws cells that look alike; words far from each other are their own texts, because blanks are not drawn.
func run(out *strings.Builder, x, y int, cells []cell) {
	fill, weight := painted16((cells[0].a&colour)>>2, cells[0].a&bright != 0), ""
	top := margin + y*cellHeight
	if cells[0].a&bold != 0 {
		weight = ` font-weight="bold"`
	}
	if c := (cells[0].a & behind) >> 6; c != 0 {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", margin+x*cellWidth, top, len(cells)*cellWidth, cellHeight, painted16(c, cells[0].a&light != 0))
	}
	if cells[0].a&reverse != 0 {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", margin+x*cellWidth, top, len(cells)*cellWidth, cellHeight, fill)
		fill = palette[1]
	}
	var text strings.Builder
	for _, c := range cells {
		text.WriteRune(c.r)
	}
	for at, rest := 0, text.String(); ; {
		word := strings.TrimLeft(rest, " ")
		at += len(rest) - len(word)
		if word == "" {
			return
		}
		if word, rest, _ = strings.Cut(word, "  "); rest != "" {
			rest = "  " + rest
		}
		shown := strings.TrimRight(word, " ")
		var escaped strings.Builder
		_ = xml.EscapeText(&escaped, []byte(shown)) // a builder takes everything
		fmt.Fprintf(out, `<text x="%d" y="%d" textLength="%d" fill="%s"%s>%s</text>`+"\n",
			margin+(x+at)*cellWidth, top+baseline, utf8.RuneCountInString(shown)*cellWidth, fill, weight, escaped.String())
		at += utf8.RuneCountInString(word)
	}
}
