package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/tui"
)

// What a command prints comes from clusters, certificates, registries and other people's documents, and leaves here: nothing
// in it may steer the terminal that it ends up on.

// noting writes, and notes the first error: what cannot be written, as on a full disk, is a failure of the command also where the
// command itself, or cobra with its help, does nothing about it.
type noting struct {
	io.Writer
	unwritten *error
}

func (n noting) Write(p []byte) (int, error) {
	count, err := n.Writer.Write(p)
	if err != nil && *n.unwritten == nil {
		*n.unwritten = err
	}
	return count, err
}

// noted puts a noting in front of the standard output of all commands.
func noted(root *cobra.Command, unwritten *error) {
	root.SetOut(noting{root.OutOrStdout(), unwritten})
}

// printed is where a command prints.
func printed(cmd *cobra.Command) io.Writer {
	if n, ok := cmd.OutOrStdout().(noting); ok {
		return noting{tui.Outlet(n.Writer), n.unwritten}
	}
	return tui.Outlet(cmd.OutOrStdout())
}

// goesTo is where the output of a command ends up: what can be asked whether it is a terminal.
func goesTo(cmd *cobra.Command) io.Writer {
	if n, ok := cmd.OutOrStdout().(noting); ok {
		return n.Writer
	}
	return cmd.OutOrStdout()
}

// complaints is where a command prints what is not a result.
func complaints(cmd *cobra.Command) io.Writer { return tui.Outlet(cmd.ErrOrStderr()) }

// screen is the terminal of a person whose console is not open yet.
func screen() io.Writer { return tui.Outlet(os.Stdout) }

// toProcess is standard output to the byte, for a command whose reader is another process and no terminal.
func toProcess() io.Writer { return os.Stdout }

// printJSON prints a document for people who read JSON, too.
func printJSON(cmd *cobra.Command, v any) error { return encode(cmd, v, "  ") }

// printLine prints a document in one line.
func printLine(cmd *cobra.Command, v any) error { return encode(cmd, v, "") }

func encode(cmd *cobra.Command, v any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return printDocument(cmd, text.Bytes())
}

// printDocument prints JSON that was written already.
func printDocument(cmd *cobra.Command, document []byte) error {
	if _, err := printed(cmd).Write(tui.Escaped(document, goesTo(cmd))); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// printArchive writes bytes that are not text, but never to a terminal.
func printArchive(cmd *cobra.Command, data []byte) error {
	if toTerminal(cmd) {
		return usage(errors.New("the archive does not go to a terminal; send it to a file: touchdown report bundle > bundle.tar.gz"))
	}
	if _, err := cmd.OutOrStdout().Write(data); err != nil {
		return fmt.Errorf("printing the archive: %w", err)
	}
	return nil
}

// toTerminal tells whether what the command prints is seen by a person, and kept by nobody.
func toTerminal(cmd *cobra.Command) bool {
	f, ok := goesTo(cmd).(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
