package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"touchdown/backend/message"
	"touchdown/steps"
	"touchdown/steps/chosen"
	"touchdown/steps/idle"
	"touchdown/steps/session"
	"touchdown/steps/site"
	"touchdown/steps/site/pin"
	"touchdown/steps/view"
)

// draft is the site config that is being filled in, what was found for it on the machine, and the review of it.
type draft struct {
	folder *stateFolder
	mask   *Masker
	idle   *idle.Lock
	list   func(*site.Config) []steps.Stage

	site    *site.Config
	found   map[string]found // values as first found or loaded, to go back to
	offers  map[string][]steps.Choice
	volumes []chosen.Volume   // whose files a person chooses from
	beside  map[string]string // values of fields that are not part of the site config; they are kept nowhere else
	review  *review           // nil when an answer changed since

	together map[string]message.Text // what the answers say of each other, by path; nil when one changed since

	brought bool // a whole document was loaded since this engine started, or the last hand-over
}

// found is a value and where it came from.
type found struct{ value, source string }

// takeUp reads the draft of an earlier engine. What cannot be read of it is told, never silently dropped.
func (d *draft) takeUp(log *slog.Logger) {
	cfg, lost, err := d.folder.loadDraft()
	if err != nil {
		log.Error("the kept answers cannot be read", "error", err)
		gone := loss{file: "site.yaml", how: isUnreadable}
		if aside, err := putAside(d.folder.path("site.yaml"), ".unreadable"); err == nil {
			gone.kept = filepath.Base(aside)
			delete(d.folder.sums.files, "site.yaml")
		}
		d.folder.lose(gone)
		cfg = site.New()
		lost = d.folder.loadSecrets(cfg)
	}
	for _, name := range lost {
		name = filepath.Join("secrets", name)
		d.folder.lose(loss{file: name, how: isUnreadable})
		d.folder.remove(name)
	}
	d.open(cfg)
	d.forgetTyped()
}

// forgetTyped takes what a person gave out of what was found: the kept draft does not tell what was there before. To go back is to go back
// to the default, or to nothing, which the next look fills in with what it finds.
func (d *draft) forgetTyped() {
	usual := site.New()
	for path, source := range d.site.Sources {
		if chosen.ByPerson(source) {
			value, _ := usual.Get(path)
			d.found[path] = found{value, usual.Sources[path]}
		}
	}
}

// typed tells whether a person has answered something.
func (d *draft) typed() bool {
	for _, source := range d.site.Sources {
		if chosen.ByPerson(source) {
			return true
		}
	}
	return false
}

// begun tells whether a person has given answers: typed some, or loaded a file. What a medium brought is none.
func (d *draft) begun() bool {
	for _, source := range d.site.Sources {
		if chosen.ByPerson(source) || strings.HasPrefix(source, "file ") {
			return true
		}
	}
	return false
}

// open takes up a config as it was found or loaded.
func (d *draft) open(cfg *site.Config) {
	d.site, d.found, d.together = cfg, map[string]found{}, nil
	for _, p := range cfg.Paths() {
		value, _ := cfg.Get(p)
		d.found[p] = found{value, cfg.Sources[p]}
	}
	d.mask.Hide(cfg.SecretTexts())
}

// stages is the list for the answers as they are.
func (d *draft) stages() []steps.Stage { return d.list(d.site.Clone()) }

// set gives a field a value that was typed.
func (d *draft) set(path, value string) error { return d.setFrom(path, value, site.Typed) }

// setFrom gives a field a value, and notes where it comes from.
func (d *draft) setFrom(path, value, source string) error {
	if f, ok := d.outside(path); ok && f.Repeats != "" {
		return d.repeat(f, value)
	} else if ok {
		return d.setBeside(f, value)
	}
	if _, ok := d.site.Get(path); !ok && !strings.HasPrefix(path, "spec.policy.answers.") {
		return fmt.Errorf("%w: there is no field %q", session.ErrNotFound, path)
	}
	cfg := d.site.Clone()
	if err := cfg.SetFrom(path, value, source); err != nil {
		return fmt.Errorf("%w: %w", session.ErrInvalid, err)
	}
	had := d.site.Spec.Console.PIN != ""
	if err := d.take(cfg); err != nil || !had || cfg.Spec.Console.PIN != "" {
		return err
	}
	return d.lock(d.idle.Set) // who takes the PIN away wants no lock, that of an earlier start neither
}

// load replaces all answers.
func (d *draft) load(values map[string]string, source string) error {
	cfg, err := configOf(values, source)
	if err != nil {
		return err
	}
	if err := d.take(cfg); err != nil {
		return err
	}
	d.open(cfg)
	d.brought = true
	return nil
}

// configOf is a config with values, by path.
func configOf(values map[string]string, source string) (*site.Config, error) {
	cfg := site.New()
	for _, path := range slices.Sorted(maps.Keys(values)) {
		if err := cfg.SetFrom(path, values[path], source); err != nil {
			return nil, fmt.Errorf("%w: %w", session.ErrInvalid, err)
		}
	}
	return cfg, nil
}

// restore gives the field with path, or every field of a step, back what was found on the machine or loaded from a file, secrets
// too, with its source. The fields that another answer hides are among them: they would come back with what was typed.
func (d *draft) restore(path, step string) error {
	cfg, paths := d.site.Clone(), []string{path}
	if path == "" {
		paths = d.paths(step)
	}
	if len(paths) == 0 {
		return fmt.Errorf("%w: step %q asks nothing", session.ErrNotFound, step)
	}
	for _, path := range paths {
		if f, ok := d.outside(path); ok && f.Kept == nil { // what its step keeps was not found or loaded
			delete(d.beside, path)
			continue
		} else if ok {
			continue
		}
		was := d.found[path]
		switch now, ok := cfg.Get(path); {
		case !ok:
			return fmt.Errorf("%w: there is no field %q", session.ErrNotFound, path)
		case now == was.value:
			continue
		}
		if err := cfg.SetFrom(path, was.value, was.source); err != nil {
			return fmt.Errorf("%w: %w", session.ErrInvalid, err)
		}
	}
	return d.take(cfg)
}

// paths are the fields of a step.
func (d *draft) paths(id string) (paths []string) {
	for _, stage := range d.stages() {
		for _, step := range stage.Steps {
			if step.ID() != id {
				continue
			}
			for _, f := range steps.FieldsOf(step) {
				paths = append(paths, f.Path)
			}
		}
	}
	return paths
}

// take makes cfg the draft once it is on the disk, so that what a person saw accepted survives a power cut.
func (d *draft) take(cfg *site.Config) error {
	d.mask.Hide(cfg.SecretTexts())
	if err := d.folder.saveDraft(cfg); err != nil {
		if errors.Is(err, session.ErrInvalid) {
			return err
		}
		return journalProblem(err)
	}
	d.site, d.review, d.together = cfg, nil, nil
	return nil
}

// lock has the consoles lock as the answers say. A PIN counts from the start of the work: until the review is accepted nothing changes
// on the word of a document, or by a slip of the finger that nobody could repeat.
func (d *draft) lock(as func(pin.Hash, time.Duration) error) error {
	is := d.site.Spec.Console
	if err := as(pin.Hash(is.PIN), is.LockAfter); err != nil {
		return journalProblem(err)
	}
	return nil
}

// Set implements Session.
func (e *Engine) Set(ctx context.Context, token, path, value string) error {
	return answering(ctx, e, token, "set", func(d *draft) error { return d.set(path, value) })
}

// Load implements Session.
func (e *Engine) Load(ctx context.Context, token string, values map[string]string, source string) error {
	return answering(ctx, e, token, "load", func(d *draft) error { return d.load(values, source) })
}

// answering has a console give answers, when it may.
func answering(ctx context.Context, e *Engine, token string, verb session.Verb, give func(*draft) error) error {
	return collecting(ctx, e, token, verb, func(c *core) error { return c.answered(give(c.draft)) })
}

// collecting does something for a console that may give answers now.
func collecting(ctx context.Context, e *Engine, token string, verb session.Verb, do func(*core) error) error {
	if err := e.idle.May(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.core.may(token, verb, []view.State{view.Inspecting, view.Collecting, view.Reviewed}); err != nil {
		return err
	}
	return do(e.core)
}
