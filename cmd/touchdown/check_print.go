package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/check"
	"touchdown/tui"
)

// printer prints one look after the other in the form that was asked for: the first whole, the others as what changed.
func (k *checking) printer(cmd *cobra.Command) (func(*checked) error, error) {
	switch {
	case k.watch && k.every < leastEvery:
		return nil, usage(fmt.Errorf("--every %s: %s or more", k.every, leastEvery))
	case k.watch && k.common.output == "junit":
		return nil, usage(errors.New("-o junit is one document; --watch goes with text or json"))
	}
	var before *checked
	switch k.common.output {
	case "text":
		return func(c *checked) error {
			text := c.text(before)
			before = c
			_, err := io.WriteString(printed(cmd), text)
			return err
		}, nil
	case "json":
		return func(c *checked) error {
			if !k.watch {
				return printJSON(cmd, c)
			}
			if before != nil && len(c.changed(before)) == 0 {
				return nil
			}
			before = c
			return printLine(cmd, c)
		}, nil
	case "junit":
		return func(c *checked) error {
			document, err := c.junit()
			if err != nil {
				return err
			}
			_, err = printed(cmd).Write(document)
			return err
		}, nil
	}
	return nil, usage(fmt.Errorf("-o %s: text, json or junit", k.common.output))
}

// changed are the checks whose verdict is another one than before, or that were not there.
func (c *checked) changed(before *checked) []check.Check {
	was := map[string]check.Status{}
	for _, k := range before.Checks {
		was[k.ID] = k.Status
	}
	var changed []check.Check
	for _, k := range c.Checks {
		if was[k.ID] != k.Status {
			changed = append(changed, k)
		}
	}
	return changed
}

// text is a look for people, in 80 columns: whole, or after another one only what changed.
func (c *checked) text(before *checked) string {
	var b strings.Builder
	checks := c.Checks
	if before != nil {
		if checks = c.changed(before); len(checks) == 0 {
			return ""
		}
		b.WriteString(linef("%s", c.At.Format(time.TimeOnly)+" UTC"))
	}
	if before == nil && c.Subject == "hardware" {
		b.WriteString(hanging("", c.fitness()))
	}
	for _, k := range checks {
		b.WriteString(hanging(fmt.Sprintf("  %-6s", k.Status), titled(k)+": "+k.Observed.String()))
		if k.Fix.String() != "" && k.Status != check.Pass {
			b.WriteString(hanging("        ", "try: "+k.Fix.String()))
		}
	}
	b.WriteString(linef("%s", c.summary()))
	return b.String()
}

// checkColumns is how wide the text is at most.
const checkColumns = 80

// hanging wraps a text behind a first column of 8.
func hanging(first, text string) string {
	text = strings.TrimSuffix(linef("%s", text), "\n") // texts of the cluster cannot begin a line
	lines := tui.Lines(text, checkColumns-len(first))
	return first + strings.Join(lines, "\n"+strings.Repeat(" ", len(first))) + "\n"
}
