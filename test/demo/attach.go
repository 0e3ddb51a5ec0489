package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"touchdown/test/bench/node"
)

// Keys that are the demo's, not the wizard's.
const (
	hangUp    = 0x1d // Ctrl-], which ends telnet and virsh consoles too
	showSheet = 0x0f // Ctrl-O
)

// attach lends the terminal to a console of the node until Ctrl-] is typed.
func attach(ctx context.Context, line *node.Line, s *screen, in, out *os.File, sheet string) error {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	defer func() {
		_ = term.Restore(int(in.Fd()), before)
		_ = s.close()
	}()
	sizes := make(chan os.Signal, 1)
	signal.Notify(sizes, syscall.SIGWINCH)
	defer signal.Stop(sizes)
	if err := fit(line, out); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(s, line) }()
	typed := make(chan error, 1)
	go func() { typed <- forward(s, in, sheet) }()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
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
func forward(s *screen, in io.Reader, sheet string) error {
	buf := make([]byte, 1024)
	for {
		n, err := in.Read(buf)
		keys, _, end := bytes.Cut(buf[:n], []byte{hangUp})
		keys, _, asked := bytes.Cut(keys, []byte{showSheet})
		if err := s.typed(keys); err != nil {
			return err
		}
		if end || errors.Is(err, io.EOF) {
			return nil
		}
		if asked {
			err = s.show(sheet)
		}
		if err != nil {
			return fmt.Errorf("reading the terminal: %w", err)
		}
	}
}
