package factory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// lineOpen is there while a node is on the bench line: the engine then loads the factory's list, over reboots too.
const lineOpen = layout.FactoryState + "/open"

// OnLine tells whether the node is on the bench line.
func OnLine(m *host.Machine) bool { return m.Exists(lineOpen) }

// OpenLine puts the node on the bench line. It returns whether it was not there before. A node that has begun to land is
// refused with a Problem (FAC-LAND).
func OpenLine(m *host.Machine, now time.Time) (bool, error) {
	if OnLine(m) {
		return false, nil
	}
	if err := MayOpen(m); err != nil {
		return false, err
	}
	text := "the engine loads the factory's list while this file is there\nopened " + now.UTC().Format(time.RFC3339Nano) + "\n"
	return true, m.WriteFile(lineOpen, []byte(text), 0o600)
}

// MayOpen refuses a node that has begun to land and is not on the bench line, with a Problem (FAC-LAND).
func MayOpen(m *host.Machine) error {
	if OnLine(m) {
		return nil
	}
	landed, err := Landed(m)
	if err != nil || !landed {
		return err
	}
	return &problem.Problem{
		Code: "FAC-LAND", Summary: message.T("This node has been at a site: its journal tells of a landing."),
		Fix: message.T("If it came back for repair, run `touchdown factory --returned NODE` with its name or serial number: it undoes the landing where that is possible, and keeps the records of the site."),
	}
}

// Landed tells whether the node has begun to land: whether its journal tells of anything.
func Landed(m *host.Machine) (bool, error) {
	data, err := m.ReadFile(layout.Journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("looking whether this node has been at a site: %w", err)
	}
	// The first line is there since the sealed node's first boot, which waited for its site.
	return bytes.Count(data, []byte("\n")) > 1, nil
}

// Stay tells one stay on the bench line from another: what a person saw before a node was sealed has to be seen again when
// it is taken back. It is empty where the node is not on the line.
func Stay(m *host.Machine) string {
	text, err := m.ReadFile(lineOpen)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(text))
}

// Sealed refuses to work on a node whose next boot waits for its site (FAC-SEAL).
func Sealed(m *host.Machine) error {
	if !m.Exists(layout.Armed) || OnLine(m) {
		return nil
	}
	return &problem.Problem{
		Code: "FAC-SEAL", Summary: message.T("This node is sealed: it waits for its site."),
		Fix: message.T("To work on it again run `touchdown factory --reopen`."),
	}
}

// Close takes the node off the bench line.
func Close(m *host.Machine) error {
	if err := m.Remove(lineOpen); err != nil {
		return fmt.Errorf("closing the factory's list: %w", err)
	}
	return nil
}
