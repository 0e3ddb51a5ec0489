package main

import (
	"fmt"
	"io"
	"strings"

	"touchdown/backend/images"
	"touchdown/tui"
)

// imageTable prints images in 80 columns.
type imageTable struct{ all bool }

// The widths of the columns, 80 with a blank between each two.
const (
	wImage, wNeeder, wSize, wHere, wBoot, wNote = 26, 29, 8, 4, 4, 4

	wTable = 80
)

func (t imageTable) print(w io.Writer, r *images.Wanted) {
	row := func(cells ...string) {
		line := fmt.Sprintf("%-*s %-*s %*s %-*s %-*s %-*s", wImage, cells[0], wNeeder, cells[1], wSize, cells[2], wHere, cells[3], wBoot, cells[4], wNote, cells[5])
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	var notes []string
	row("IMAGE", "NEEDED BY", "SIZE", "HERE", "BOOT", "NOTE")
	for _, i := range r.Images {
		if i.Spare() && !t.all {
			continue
		}
		note := ""
		for _, f := range i.Findings {
			notes = append(notes, fmt.Sprintf("%s: %s Try: %s", i.Title(), f.Text, f.Fix))
			note += "," + fmt.Sprint(len(notes))
		}
		row(cut(i.Title(), wImage), needers(i), size(i), here(r, i), yes(i.BootCritical), cut(strings.TrimPrefix(note, ","), wNote))
	}
	for n, text := range notes {
		fmt.Fprintln(w)
		paragraph(w, fmt.Sprintf("%2d  ", n+1), text)
	}
	fmt.Fprintln(w)
	for _, line := range t.summary(r) {
		paragraph(w, "", line)
	}
	for _, u := range r.Unread {
		paragraph(w, "Not read: ", u.Source+": "+u.Reason.String())
	}
}

// summary is what a person wants to know first.
func (t imageTable) summary(r *images.Wanted) []string {
	s := r.Summary
	first := fmt.Sprintf("%d images wanted, %d of them boot-critical; ", s.Wanted, s.BootCritical)
	switch {
	case !r.StoreRead:
		first += "which are here is not known."
	case s.Missing == 0:
		first += "all are here."
	default:
		first += fmt.Sprintf("%d missing (%d boot-critical)", s.Missing, s.BootMissing)
		if s.Download > 0 {
			first += ", " + amount(s.Download) + " to fetch"
		}
		if s.Unsized > 0 {
			first += fmt.Sprintf(", %d of unknown size", s.Unsized)
		}
		first += "."
	}
	lines := []string{first}
	if r.StoreRead {
		lines = append(lines, "In the store: "+amount(s.Size)+", as if no image shared anything.")
	}
	if s.PullAlways > 0 {
		lines = append(lines, fmt.Sprintf("%d of them ask the registry at each start: see the notes.", s.PullAlways))
	}
	if spare := s.Images - s.Wanted; spare > 0 && !t.all {
		lines = append(lines, fmt.Sprintf("%d more that nothing runs: --all prints them.", spare))
	}
	if s.PayloadOnly > 0 {
		lines = append(lines, fmt.Sprintf("%d images of the release are not used here: --payload wants them too.", s.PayloadOnly))
	}
	return lines
}

// needers names the first and counts the others, each once.
func needers(i images.Image) string {
	seen := map[string]bool{}
	for _, n := range i.Needers {
		seen[n.Who] = true
	}
	if len(seen) == 0 {
		return "nobody"
	}
	rest := ""
	if len(seen) > 1 {
		rest = fmt.Sprintf(" +%d", len(seen)-1)
	}
	return cut(shortWho(i.Needers[0].Who), wNeeder-len(rest)) + rest
}

// shortWho drops what the name tells as well: the kind of a workload, and the platform's prefix of namespaces.
func shortWho(who string) string {
	kind, name, ok := strings.Cut(who, " ")
	if !ok || kind != "static" && !strings.Contains(name, "/") || strings.HasPrefix(name, "image of") || strings.HasPrefix(name, "payload") {
		return who
	}
	if kind == "static" {
		return "static " + strings.TrimPrefix(name, "pod ")
	}
	return strings.TrimPrefix(name, "openshift-")
}

func size(i images.Image) string {
	switch {
	case i.Size > 0:
		return amount(i.Size)
	case i.Download > 0:
		return "+" + amount(i.Download)
	}
	return "-"
}

func here(r *images.Wanted, i images.Image) string {
	if !r.StoreRead {
		return "?"
	}
	if i.Present {
		return "yes"
	}
	return "NO"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// amount is a number of bytes in at most 7 columns.
func amount(bytes int64) string {
	n, unit := float64(bytes), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB"} {
		if n < 999.5 {
			break
		}
		n, unit = n/1000, next
	}
	if n < 9.95 && unit != "B" {
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}

// cut shortens a text that others wrote, and takes out what a terminal would obey.
func cut(text string, width int) string {
	text = tui.Shown(strings.Join(strings.Fields(text), " "), true)
	if len(text) <= width {
		return text
	}
	return text[:max(0, width-2)] + ".."
}

// paragraph prints a text behind a head, lines of at most 80 columns, broken at blanks; a word that is longer is broken anywhere.
func paragraph(w io.Writer, head, text string) {
	width := wTable - len(head)
	line := ""
	flush := func() {
		if line != "" {
			fmt.Fprintln(w, head+line)
			head, line = strings.Repeat(" ", len(head)), ""
		}
	}
	for _, word := range strings.Fields(tui.Shown(text, true)) {
		if line != "" && len(line)+1+len(word) > width {
			flush()
		}
		for len(word) > width {
			line = word[:width]
			flush()
			word = word[width:]
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	flush()
}
