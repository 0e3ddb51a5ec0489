package tui

import (
	"fmt"

	"touchdown/backend/message"
)

// t returns the text with the key, in the language of this console. A key that is missing shows itself, which a test looks for.
func t(key string, args ...any) string {
	s, ok := "", false
	if language := here.Load(); language != nil {
		s, ok = language.texts[key]
	}
	if !ok {
		if s, ok = texts[key]; !ok {
			return key
		}
	}
	if len(args) == 0 {
		return s
	}
	said := make([]any, len(args))
	for i, a := range args {
		said[i] = a
		if text, ok := a.(message.Text); ok {
			said[i] = show(text)
		}
	}
	return message.Sprintf(fmt.Sprintf, s, said...)
}

// show returns a text of the engine in the language of this console.
func show(text message.Text) string {
	if language := here.Load(); language != nil {
		return language.engine.Show(text)
	}
	return text.String()
}

// worded is a word of the engine that is not a sentence, of a kind such as "unit", in the language of this console. What the texts
// do not have is data.
func worded(kind, word string) string {
	if _, known := texts[kind+"."+word]; known {
		return t(kind + "." + word)
	}
	return word
}

// helpOf is what the help of a page says in the language of this console.
func helpOf(page string) string {
	if language := here.Load(); language != nil && language.helps[page] != "" {
		return language.helps[page]
	}
	return helps[page]
}

// showAll are texts of the engine in the language of this console.
func showAll(texts []message.Text) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = show(text)
	}
	return all
}
