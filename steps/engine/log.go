package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"touchdown/backend/support"
	"touchdown/steps/records"
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
		return nil, fmt.Errorf("%w: the journal is being read already; try again in a moment", ErrState)
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

// readable turns a record of the log into "15:04:05 WARN message key=value", which fits a console better.
func readable(record string) string {
	var fields map[string]any
	decoder := json.NewDecoder(strings.NewReader(record))
	decoder.UseNumber() // 12582912 is not 1.2582912e+07 to people
	if decoder.Decode(&fields) != nil {
		return record
	}
	at, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(fields[slog.TimeKey]))
	line := fmt.Sprintf("%s %-5v %v", at.Format(time.TimeOnly), fields[slog.LevelKey], fields[slog.MessageKey])
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != slog.TimeKey && key != slog.LevelKey && key != slog.MessageKey {
			line += fmt.Sprintf(" %s=%v", key, fields[key])
		}
	}
	return line
}
