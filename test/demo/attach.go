package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"touchdown/test/bench/node"
)

const (
	hangUp  = 0x1d // Ctrl-], which ends telnet and virsh consoles too
	repaint = 0x0c // Ctrl-L
	// restored leaves the other screen of the terminal, its colours and its hidden cursor.
	restored = "\x1b[?1049l\x1b[m\x1b[?25h\r\n"
)

// painted waits for the wizard and drops what the boot wrote before it: systemd asks the line for its size, and the
// answers of a terminal would arrive as keys.
func painted(line io.Reader) error {
	var seen []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(seen, []byte("Touchdown")) {
		n, err := line.Read(buf)
		if err != nil {
			return fmt.Errorf("waiting for the wizard: %w", err)
		}
		seen = append(seen, buf[:n]...)
	}
	return nil
}

// attach lends the terminal to a console of the node until Ctrl-] is typed.
func attach(ctx context.Context, line *node.Line, in, out *os.File) error {
	if err := painted(line); err != nil {
		return err
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	defer func() {
		_ = term.Restore(int(in.Fd()), before)
		_, _ = out.WriteString(restored)
	}()
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	go func() { _, _ = io.Copy(out, line) }()
	typed := make(chan error, 1)
	go func() { typed <- forward(line, in) }()
	if err := fit(line, out); err != nil {
		return err
	}
	if _, err := line.Write([]byte{repaint}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-typed:
			return err
		case <-sizes:
			if err := fit(line, out); err != nil {
				return err
			}
		}
	}
}

// fit gives the line the size of the terminal.
func fit(line *node.Line, out *os.File) error {
	w, h, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return fmt.Errorf("asking for the terminal's size: %w", err)
	}
	return line.Resize(w, h)
}

// forward types what comes in until Ctrl-].
func forward(line io.Writer, in io.Reader) error {
	buf := make([]byte, 1024)
	for {
		n, err := in.Read(buf)
		keys, _, end := bytes.Cut(buf[:n], []byte{hangUp})
		if _, err := line.Write(keys); err != nil {
			return err
		}
		if end || err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the terminal: %w", err)
		}
	}
}
