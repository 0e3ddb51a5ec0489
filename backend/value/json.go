package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxDepth is how deep JSON from outside may be nested. Chosen: a report has 4 levels.
const maxDepth = 32

// Twice is the error of OneMeaning for a key that an object has twice.
type Twice struct {
	Key string // as spelled the second time
	At  int    // its offset in bytes
}

// Error implements error. Of the key it has the start alone.
func (t *Twice) Error() string { return fmt.Sprintf("the JSON has the key %.40q twice", t.Key) }

// OneMeaning refuses JSON that two readers can understand in two ways: with a key that an object has twice, in whatever letters,
// because Go's reader takes keys of any case. It also bounds the depth.
func OneMeaning(data []byte) error {
	return OneMeaningIn(data, func([]string) bool { return true })
}

// OneMeaningIn is OneMeaning for a part of the JSON: of a value that ours does not report it reads nothing, because it belongs to another
// program. It is called with the keys that lead to an object, none for the outermost, in small letters.
func OneMeaningIn(data []byte, ours func(keys []string) bool) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	w := walk{decoder, data, ours}
	if err := w.value(nil, 0); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON")
	}
	return nil
}

// walk is one reading of JSON for keys that an object has twice.
type walk struct {
	decoder *json.Decoder
	data    []byte
	ours    func(keys []string) bool
}

func (w walk) value(keys []string, depth int) error {
	if !w.ours(keys) {
		var others json.RawMessage
		if err := w.decoder.Decode(&others); err != nil {
			return fmt.Errorf("reading JSON: %w", err)
		}
		return nil
	}
	token, err := w.decoder.Token()
	if err != nil {
		return fmt.Errorf("reading JSON: %w", err)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("the JSON is nested deeper than %d levels", maxDepth)
	}
	seen := map[string]bool{}
	for w.decoder.More() {
		below := keys
		if open == '{' {
			name, err := w.key(seen)
			if err != nil {
				return err
			}
			below = append(slices.Clip(keys), name)
		}
		if err := w.value(below, depth+1); err != nil {
			return err
		}
	}
	if _, err := w.decoder.Token(); err != nil { // the closing bracket
		return fmt.Errorf("reading JSON: %w", err)
	}
	return nil
}

// key reads a key that is not among those that were seen, in small letters.
func (w walk) key(seen map[string]bool) (string, error) {
	before := int(w.decoder.InputOffset())
	key, err := w.decoder.Token()
	if err != nil {
		return "", fmt.Errorf("reading JSON: %w", err)
	}
	name := strings.ToLower(strings.ToUpper(fmt.Sprint(key))) // the long s and the Kelvin sign are letters, too
	if seen[name] {
		return "", &Twice{Key: fmt.Sprint(key), At: before + bytes.IndexByte(w.data[before:], '"')}
	}
	seen[name] = true
	return name, nil
}
