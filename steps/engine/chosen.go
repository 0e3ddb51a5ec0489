package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"touchdown/backend/media"
	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// takesFile tells whether the value of a field can come from a file: it has lines, or is too long to be typed.
func takesFile(o *Options, f steps.Field) bool {
	return o.Media != nil && !f.Beside && (f.Kind == steps.PEM || f.Kind == steps.Lines || f.Long)
}

// fileField finds the field with a path, if its value can come from a file.
func fileField(c *core, path string) (steps.Field, bool) {
	for _, stage := range c.draft.stages() {
		for _, step := range stage.Steps {
			for _, f := range steps.FieldsOf(step) {
				if f.Path == path && takesFile(c.o, f) && (f.Visible == nil || f.Visible()) {
					return f, true
				}
			}
		}
	}
	return steps.Field{}, false
}

// offerFiles lists the files on media, or gives a field what is in one of them. Other than what was typed, a value that its check refuses
// is not kept: a wrong file may hold anything, and what is in a field is shown.
func offerFiles(ctx context.Context, e *Engine, token string, f steps.Field, a session.Action) error {
	if a.Volume == "" {
		return listFiles(ctx, e, token, f)
	}
	value, volume, err := fileOf(ctx, e, f, a)
	if err != nil {
		return err
	}
	return answering(ctx, e, token, session.Act, func(d *draft) error {
		if err := d.setFrom(f.Path, value, chosen.From(volume, a.Value)); err != nil {
			return err
		}
		d.volumes = nil
		return nil
	})
}

// listFiles shows a person the files on media. It changes no answer, so that what was found for the answers stays.
func listFiles(ctx context.Context, e *Engine, token string, f steps.Field) error {
	found, err := volumes(ctx, e)
	if err != nil {
		return err
	}
	if site.TakesFolder(f.Path) {
		for i := range found {
			found[i].Files = append(foldersOf(found[i]), found[i].Files...)
		}
	}
	return collecting(ctx, e, token, session.Act, func(c *core) error {
		c.draft.volumes = found
		c.recorder.changed()
		return nil
	})
}

// longestList is how many files of a volume are listed: each console is sent all of them, with each snapshot.
const longestList = 200

// volumes are what lies in the sockets now.
func volumes(ctx context.Context, e *Engine) (all []chosen.Volume, err error) {
	found, err := e.o.Media.Volumes(ctx)
	for _, v := range found {
		all = append(all, shownOf(v))
	}
	return all, err
}

// shownOf is a volume as consoles show it, with the first of its files.
func shownOf(v media.Volume) chosen.Volume {
	view := chosen.Volume{ID: v.ID, Name: v.Name, More: v.More}
	if p := v.Refused; p != nil {
		view.Why = message.F("%s %s (%s)", p.Summary, p.Fix, p.Code)
	}
	if len(v.Files) > longestList {
		v.Files, view.More = v.Files[:longestList], true
	}
	for _, f := range v.Files {
		view.Files = append(view.Files, chosen.File{Path: f.Path, Bytes: f.Bytes})
	}
	return view
}

// foldersOf are the folders of a volume whose files a field can take together. Of a list that was cut off it is not known what they hold.
func foldersOf(v chosen.Volume) (folders []chosen.File) {
	if v.More {
		return nil
	}
	bytes := map[string]int64{}
	for _, f := range v.Files {
		if at := strings.LastIndexByte(f.Path, '/') + 1; at > 0 && len(site.ManifestNames([]string{f.Path})) > 0 {
			bytes[f.Path[:at]] += f.Bytes
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(bytes)) {
		folders = append(folders, chosen.File{Path: folder, Bytes: bytes[folder]})
	}
	return folders
}

// filesIn are the files that a person takes with a line of the list: the file, or those of the folder.
func filesIn(v chosen.Volume, line string) []string {
	if !strings.HasSuffix(line, "/") {
		return []string{line}
	}
	var inside []string
	for _, f := range v.Files {
		if name, in := strings.CutPrefix(f.Path, line); in && name != "" && !strings.Contains(name, "/") {
			inside = append(inside, f.Path)
		}
	}
	return site.ManifestNames(inside)
}

// fileOf reads a file that a person was shown, or those of a folder, and judges it by the rules for what is typed into a field.
func fileOf(ctx context.Context, e *Engine, f steps.Field, a session.Action) (value, volume string, err error) {
	var names []string
	e.mu.Lock()
	for _, v := range e.core.draft.volumes {
		if v.ID == a.Volume && slices.ContainsFunc(v.Files, func(f chosen.File) bool { return f.Path == a.Value }) {
			names = filesIn(v, a.Value)
		}
	}
	e.mu.Unlock()
	if len(names) == 0 {
		return "", "", fmt.Errorf("%w: there is no such file in the list of files on media; list them again", session.ErrNotFound)
	}
	data, volume, err := e.o.Media.ReadFiles(ctx, a.Volume, names...)
	if err != nil {
		return "", "", err
	}
	value = string(data[0])
	if strings.HasSuffix(a.Value, "/") {
		var files []site.ManifestFile
		for i, name := range names {
			files = append(files, site.ManifestFile{Name: name, Text: string(data[i])})
		}
		value, err = site.JoinManifests(files)
	}
	if err == nil {
		err = site.Check(f.Path)(value)
	}
	if err == nil && f.Check != nil {
		err = f.Check(value)
	}
	if err != nil {
		return "", "", unsuited(a.Value, err)
	}
	return value, volume, nil
}

// unsuited is the problem of a file that a field does not take.
func unsuited(file string, err error) error {
	p := &problem.Problem{Code: "MED-VAL", Summary: message.F("The file %s is not taken: %s.", file, beside(err)), Fix: message.T("Choose the right file. The field has not changed.")}
	if e, ok := errors.AsType[*site.Error](err); ok && e.Msg != (message.Text{}) {
		p.Summary = message.F("The file %s is not taken: it %s.", file, e.Msg)
		if e.Fix != (message.Text{}) {
			p.Fix = message.F("Choose another file; to use this one, %s. The field has not changed.", e.Fix)
		}
	}
	return p
}
