package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"touchdown/steps/chosen"
	"touchdown/steps/session"
)

// bundle has a support bundle written to the stick in the machine, or, without one, saved; either says where.
func (l *link) bundle(save func([]byte) (string, error)) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(l.ctx, workTimeout)
		defer cancel()
		var on chosen.Saved
		told, err := l.session.Export(ctx, session.BundleOnStick)
		if err == nil {
			err = json.Unmarshal(told, &on)
		}
		if errors.Is(err, session.ErrNotFound) {
			return l.export(session.Bundle, save)()
		}
		return docMsg{what: session.Bundle, saved: t("bundle.where", on.Volume+" "+on.File, on.Bytes/1024+1, fmt.Sprintf("%.12s", on.SHA256)), sum: on.SHA256, failed: err}
	}
}

// bundledLines tell where a bundle is. Its SHA-256 stands in groups of eight, as people read it to each other.
func bundledLines(msg docMsg) []string {
	return append([]string{t("bundle.saved", msg.saved), "", t("bundle.sum")}, sumLines(msg.sum)...)
}

// sumLines are a SHA-256.
func sumLines(sum string) (lines []string) {
	for half := range slices.Chunk([]byte(sum), 32) {
		line := ""
		for group := range slices.Chunk(half, 8) {
			line += "  " + string(group)
		}
		lines = append(lines, line)
	}
	return lines
}
