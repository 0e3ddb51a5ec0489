package tui

import (
	"cmp"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/view"
)

// fileList is the list of the files on media, by volume; a field gets what is in the one that is chosen.
type fileList struct {
	base
	form *form
	of   view.Field
	at   int // index of the file in focus
}

func newFileList(f *form, v view.Field) (screen, tea.Cmd) {
	list := &fileList{base: f.base, form: f, of: v}
	return list, list.look()
}

func (l *fileList) look() tea.Cmd {
	l.reading, l.at = reading{path: l.of.Path, loading: true}, 0
	return l.link.act(session.Action{Verb: session.Act, Path: l.of.Path})
}

func (l *fileList) name() string  { return "files" }
func (l *fileList) overlay() bool { return true }
func (l *fileList) private() bool { return true } // a person's files are nobody's business

func (l *fileList) keys() []key.Binding {
	k := l.desk.keys
	return []key.Binding{k.up, k.enter, k.again, k.back, k.help}
}

// onMedium is a file and the volume that it lies on.
type onMedium struct {
	volume chosen.Volume
	file   chosen.File
}

// filesOf are the files of a snapshot, in the order of its volumes.
func filesOf(s *view.Snapshot) (all []onMedium) {
	for _, v := range s.Volumes {
		for _, f := range v.Files {
			all = append(all, onMedium{v, f})
		}
	}
	return all
}

// take has the engine give a field what is in a file.
func (f onMedium) take(path string) session.Action {
	return session.Action{Verb: session.Act, Path: path, Volume: f.volume.ID, Value: f.file.Path}
}

func (l *fileList) update(msg tea.Msg) (screen, tea.Cmd) {
	if l.reading.taken {
		l.form.focus(l.of.Path)
		return nil, nil
	}
	if msg, ok := msg.(tea.KeyPressMsg); ok {
		return l.press(msg)
	}
	return l, nil
}

func (l *fileList) press(msg tea.KeyPressMsg) (screen, tea.Cmd) {
	k, files := l.desk.keys, filesOf(l.snap)
	n := max(len(files), 1)
	l.at = min(l.at, n-1)
	switch {
	case pressed(msg, k.back):
		return nil, nil // a file that is being read becomes the value all the same
	case l.reading.loading || l.reading.taking != "":
	case pressed(msg, k.again):
		return l, l.look()
	case pressed(msg, k.up, k.prev):
		l.at = (l.at + n - 1) % n
	case pressed(msg, k.down, k.next):
		l.at = (l.at + 1) % n
	case pressed(msg, k.first):
		l.at = 0
	case pressed(msg, k.last):
		l.at = n - 1
	case pressed(msg, k.enter) && len(files) > 0:
		f := files[l.at]
		l.reading.taking, l.reading.why = f.file.Path, ""
		return l, l.link.act(f.take(l.of.Path))
	}
	return l, nil
}

func (l *fileList) view(w, h int) page {
	lines, at := l.rows(w)
	head := []string{l.theme.head.Render(cut(t("files.title", l.of.Label), w)), ""}
	below := []string{""}
	switch {
	case l.reading.loading:
		below = append(below, t("files.loading"))
	case l.reading.taking != "":
		below = append(below, cut(t("files.taking", l.reading.taking), w))
	default:
		below = append(below, wrap(cmp.Or(l.reading.why, t("files.how")), w, "")...)
	}
	room := max(h-len(head)-len(below), 1)
	from := max(0, min(at-room/2, len(lines)-room))
	shown := append(head, lines[from:min(from+room, len(lines))]...)
	return page{lines: append(shown, below...), x: 0, y: len(head) + at - from}
}

// rows are the volumes with their files, and the line of the one in focus.
func (l *fileList) rows(w int) (lines []string, at int) {
	n := 0
	for _, v := range l.snap.Volumes {
		lines = append(lines, l.theme.strong.Render(cut(v.Name, w)))
		if show(v.Why) != "" {
			lines = append(lines, wrap(show(v.Why), w, "    ")...)
		}
		wide := 0
		for _, f := range v.Files {
			wide = max(wide, min(len([]rune(f.Path)), w-24))
		}
		for _, f := range v.Files {
			line := pad(cut(f.Path, wide), wide) + "  " + t("files.bytes", f.Bytes)
			if mark := "  "; n == l.at {
				mark, at = marker+" ", len(lines)
				lines = append(lines, cut("  "+mark+l.theme.focus.Render(strings.TrimSpace(line)), w))
			} else {
				lines = append(lines, cut("  "+mark+line, w))
			}
			n++
		}
		if v.More {
			lines = append(lines, wrap(t("files.more"), w, "    ")...)
		}
	}
	if len(lines) == 0 && !l.reading.loading {
		lines = wrap(t("files.none"), w, "")
	}
	return lines, at
}
