package tui

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"touchdown/backend/message"
)

// mother is the language that the source is written in.
const mother = "en"

// catalogues are the languages beside English: a folder each, with YAML files and the language's own name for itself.
//
//go:embed languages
var catalogues embed.FS

// catalogue is what a file of a language holds.
type catalogue struct {
	Console map[string]string `yaml:"console"` // the console's own texts, by key
	Help    map[string]string `yaml:"help"`    // the help of each page
	Engine  map[string]string `yaml:"engine"`  // the engine's texts, by their English format
	ASCII   map[string]string `yaml:"ascii"`   // how a letter is written where there is none but ASCII
}

// speech is a language of the console.
type speech struct {
	code   string
	texts  map[string]string // the console's own, by key; what is missing is English
	helps  map[string]string // by the name of the page
	engine *message.Language
}

// here is the language of this process's console; nil is English. A process shows one console, so that two consoles of a node
// can differ. The engine that `--local` keeps in the console's process does not use it.
var here atomic.Pointer[speech]

// spokenBefore are the languages that this process has read, with and without their own letters: whoever goes to and fro between two themes
// or languages does not wait for their files again.
var spokenBefore sync.Map

// Languages are the codes of the languages that a console can speak, English first.
func Languages() []string {
	all := []string{mother}
	folders, _ := fs.ReadDir(catalogues, "languages") // it is embedded
	for _, f := range folders {
		all = append(all, f.Name())
	}
	return all
}

// Language is the code of the language that was asked for. Without one the environment says it, as for every program: LC_ALL,
// LC_MESSAGES or LANG, such as "de_DE.UTF-8". A language that there is not is an error where it was asked for, and else English.
func Language(code string) (string, error) {
	all := Languages()
	if code != "" {
		if !slices.Contains(all, code) {
			return "", fmt.Errorf("there is no language %q, only %s", code, strings.Join(all, ", "))
		}
		return code, nil
	}
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if end := strings.IndexAny(locale, "_.@"); end >= 0 {
		locale = locale[:end]
	}
	if slices.Contains(all, locale) {
		return locale, nil
	}
	return mother, nil
}

// ownName is what a language calls itself.
func ownName(code string) string {
	name, err := catalogues.ReadFile(path.Join("languages", code, "name"))
	if err != nil {
		return "English"
	}
	return strings.TrimSpace(string(name))
}

// spoken is the code of the language of this console.
func spoken() string {
	if is := here.Load(); is != nil {
		return is.code
	}
	return mother
}

// following is the code of the language after the one that is spoken, round and round.
func following() string {
	all := Languages()
	return all[(slices.Index(all, spoken())+1)%len(all)]
}

// speak sets the language of this process's console. With ascii its letters are written as a terminal without UTF-8 can show
// them; only the catalogue is changed, not what people and machines are called.
func speak(code string, ascii bool) error {
	if code == "" || code == mother {
		here.Store(nil)
		return nil
	}
	type manner struct {
		code  string
		ascii bool
	}
	if is, ok := spokenBefore.Load(manner{code, ascii}); ok {
		here.Store(is.(*speech))
		return nil
	}
	all, err := load(code)
	if err != nil {
		return err
	}
	language, err := all.speech(code, ascii)
	if err != nil {
		return err
	}
	spokenBefore.Store(manner{code, ascii}, language)
	here.Store(language)
	return nil
}

// load reads all files of a language.
func load(code string) (catalogue, error) {
	all := catalogue{Console: map[string]string{}, Help: map[string]string{}, Engine: map[string]string{}, ASCII: map[string]string{}}
	files, _ := fs.Glob(catalogues, path.Join("languages", code, "*.yaml")) // the pattern is good
	for _, name := range files {
		var one catalogue
		data, err := catalogues.ReadFile(name)
		if err == nil {
			err = yaml.Unmarshal(data, &one)
		}
		if err != nil {
			return all, fmt.Errorf("reading %s: %w", name, err)
		}
		maps.Copy(all.Console, one.Console)
		maps.Copy(all.Help, one.Help)
		maps.Copy(all.Engine, one.Engine)
		maps.Copy(all.ASCII, one.ASCII)
	}
	return all, nil
}

// speech makes a language of a catalogue.
func (c catalogue) speech(code string, ascii bool) (*speech, error) {
	if ascii {
		var pairs []string
		for _, letter := range slices.Sorted(maps.Keys(c.ASCII)) {
			pairs = append(pairs, letter, c.ASCII[letter])
		}
		spelt := strings.NewReplacer(pairs...)
		for _, texts := range []map[string]string{c.Console, c.Help, c.Engine} {
			for key, text := range texts {
				texts[key] = unaccented(spelt.Replace(text))
			}
		}
	}
	engine, err := message.NewLanguage(code, c.Engine)
	if err != nil {
		return nil, err
	}
	return &speech{code: code, texts: c.Console, helps: c.Help, engine: engine}, nil
}

// unaccented is a text with its letters' accents left out.
func unaccented(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}
