package tui

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"touchdown/backend/message"
)

// catalogues are the languages beside English: each a YAML file with the console's own texts by their keys, and the engine's by
// their English format.
//
//go:embed languages/*.yaml
var catalogues embed.FS

// spoken is a language of the console.
type spoken struct {
	texts  map[string]string // the console's own, by key; what is missing is English
	engine *message.Language
}

// here is the language of this console: a process shows one console, and sets it before the first screen.
var here spoken

// Languages are the codes of the languages that a console can speak, English first.
func Languages() []string {
	all := []string{"en"}
	files, _ := fs.Glob(catalogues, "languages/*.yaml") // the pattern is good
	for _, f := range files {
		all = append(all, strings.TrimSuffix(path.Base(f), ".yaml"))
	}
	return all
}

// Speak sets the language of this process's console by its code, or by the value of a variable such as LANG: "de_DE.UTF-8". A
// language that there is not is an error for a code and English for a variable.
func Speak(code string) error {
	if code == "" || code == "en" {
		here = spoken{}
		return nil
	}
	if !slices.Contains(Languages(), code) {
		return fmt.Errorf("there is no language %q, only %s", code, strings.Join(Languages(), ", "))
	}
	data, err := catalogues.ReadFile("languages/" + code + ".yaml")
	if err != nil {
		return fmt.Errorf("reading the language %s: %w", code, err)
	}
	var catalogue struct {
		Console map[string]string `yaml:"console"`
		Engine  map[string]string `yaml:"engine"`
	}
	if err := yaml.Unmarshal(data, &catalogue); err != nil {
		return fmt.Errorf("reading the language %s: %w", code, err)
	}
	language, err := message.NewLanguage(code, catalogue.Engine)
	if err != nil {
		return err
	}
	here = spoken{texts: catalogue.Console, engine: language}
	return nil
}
