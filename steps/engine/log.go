package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"touchdown/backend/support"
	"touchdown/steps/records"
	"touchdown/steps/session"
)

// What Log reads at most: bytes from the end of the log file, lines, and bytes of one line. Chosen: a console shows a thousand lines.
const (
	logTail  = 1 << 20
	mostLog  = 2000
	mostLine = 2000
)

// Log implements Session.
func (e *Engine) Log(ctx context.Context, ask records.Ask) ([]string, error) {
	ask.Lines = min(max(ask.Lines, 1), mostLog)
	if !ask.Node {
		return ownLog(e.o.LogFile, e.mask, ask)
	}
	if !e.reading.TryLock() { // a key that is held asks again and again
		return nil, fmt.Errorf("%w: the journal is being read already; try again in a moment", session.ErrState)
	}
	defer e.reading.Unlock()
	text, err := support.Journal(ctx, e.o.Node.Host, ask.Lines, ask.Grave)
	if err != nil {
		return nil, err
	}
	return short(strings.Split(support.Scrub(e.mask.Mask(strings.TrimRight(text, "\n"))), "\n")), nil
}

// ownLog is the engine's. Only what is asked for is masked: consoles ask every second.
func ownLog(file string, mask *Masker, ask records.Ask) ([]string, error) {
	if file == "" {
		return nil, nil
	}
	data, err := tail(file, logTail)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the log: %w", err)
	}
	all := strings.Split(mask.Mask(lastLines(string(data), ask)), "\n")
	for i, line := range all {
		all[i] = readable(line)
	}
	return short(all), nil
}

// lastLines are the last lines of a log, one at least, without empty ones behind them.
func lastLines(text string, ask records.Ask) string {
	text = strings.TrimRight(text, "\n")
	var last []string
	for len(last) < ask.Lines {
		at := strings.LastIndexByte(text, '\n')
		if line := text[at+1:]; !ask.Grave || grave(line) {
			last = append(last, line)
		}
		if at < 0 {
			break
		}
		text = text[:at]
	}
	slices.Reverse(last)
	return strings.Join(last, "\n")
}

// grave tells whether a record is a warning or worse. What is none, such as the end of a program that failed, is too.
func grave(record string) bool {
	var level struct{ Level slog.Level }
	return json.Unmarshal([]byte(record), &level) != nil || level.Level >= slog.LevelWarn
}

// short cuts lines that no console shows to their end, and takes out what would steer a terminal: any program writes to the journal.
func short(lines []string) []string {
	for i, line := range lines {
		if len(line) > mostLine {
			line = line[:mostLine] + " ..."
		}
		lines[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, ""))
	}
	return lines
}

// readable turns a record of the log into a line for people: time, level, what happened, with what, and at the end why. What is not
// a record stays.
func readable(record string) string {
	decoder := json.NewDecoder(strings.NewReader(record))
	decoder.UseNumber() // 12582912 is not 1.2582912e+07 to people
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return record
	}
	var head, why string
	var with []string
	for decoder.More() {
		key, err := decoder.Token()
		var value any
		if err != nil || decoder.Decode(&value) != nil {
			return record
		}
		switch key {
		case slog.TimeKey:
			at, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(value))
			head = at.Format(time.TimeOnly)
		case slog.LevelKey:
			head += fmt.Sprintf(" %-5v", value)
		case slog.MessageKey:
			head += fmt.Sprintf(" %v", value)
		case "argv":
			head += " " + listed(value, " ")
		case "err", "error", "why", "text":
			why = ": " + listed(value, "; ")
		default:
			with = append(with, fmt.Sprintf("%v %s", key, listed(value, ", ")))
		}
	}
	return strings.Join(append([]string{head}, with...), ", ") + why
}

// listed is the values of a list one after the other, or the one value.
func listed(value any, between string) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var all []string
	for _, one := range list {
		all = append(all, fmt.Sprint(one))
	}
	return strings.Join(all, between)
}
