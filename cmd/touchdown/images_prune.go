package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"touchdown/backend/images"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// pruning are the flags of `images prune`.
type pruning struct{ yes, dry, json bool }

func (c imageCommands) prune() *cobra.Command {
	var f pruning
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove images from the store that nobody needs any more", Args: cobra.NoArgs,
		Long: `Prune lists the images of the store that no pod, workload, operator, catalog, service of the node, container or pin of
someone else needs, and that are not of the cluster's release; it asks, and removes them: from the store, and from
CRI-O's own store, where the next seeding would find them. A workload that is scaled to zero needs its image; a pod or job
that has ended, and an old revision of a static pod, do not.

The layers stay on the disk until the next boot that goes well: until then the removed images can come back. Where a
source cannot be read (see ` + "`touchdown images list`" + `), nothing is removed.

-o json prints one object: generation, images (id, names, named (who names it and does not run it), size), kept, layers
and bytes (of the layers that no image which stays has).`,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.runPrune(cmd, f) },
	}
	c.engine.add(cmd)
	json := tableFlag(cmd)
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "only print what nobody needs")
	cmd.MarkFlagsMutuallyExclusive("yes", "dry-run")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		f.json, err = json()
		return err
	}
	return cmd
}

func (c imageCommands) runPrune(cmd *cobra.Command, f pruning) error {
	if !f.yes && !f.dry && terminal(cmd) == nil {
		return usage(&problem.Problem{
			Code: "CTR-ASK", Summary: message.T("Nobody can be asked here: this is not a terminal."),
			Fix: message.T("Look with --dry-run, then remove with --yes."),
		})
	}
	_, here, err := c.open()
	if err != nil {
		return err
	}
	defer here.Close()
	return interrupted(cmd.Context(), pruneOn(cmd, here, f))
}

func pruneOn(cmd *cobra.Command, here *images.Node, f pruning) error {
	ctx := cmd.Context()
	l, err := here.Leftovers(ctx)
	if err != nil {
		return err
	}
	if f.json {
		if err := printJSON(cmd, l); err != nil {
			return err
		}
	} else {
		printLeftovers(printed(cmd), l)
	}
	if f.dry || len(l.Images) == 0 {
		return nil
	}
	if !f.yes {
		if err := confirmed(cmd, fmt.Sprintf("Remove %s from the store?", count(len(l.Images), "image"))); err != nil {
			return err
		}
		// Whoever was asked may have thought for long.
		asked := l.IDs()
		if l, err = here.Leftovers(ctx); err != nil {
			return err
		}
		if !slices.Equal(asked, l.IDs()) {
			return &problem.Problem{Code: "CTR-CHNG", Summary: message.T("What the node needs has changed meanwhile; nothing was removed."), Fix: message.T("Run the command again.")}
		}
	}
	if err := here.Prune(ctx, version, l); err != nil {
		return err
	}
	if !f.json {
		fmt.Fprintf(printed(cmd), "%s removed. %s will be free after the next boot that goes well.\n", sentence(count(len(l.Images), "image")), amount(l.Bytes))
	}
	return nil
}

// printLeftovers prints them in 80 columns.
func printLeftovers(w io.Writer, l images.Leftovers) {
	if len(l.Images) == 0 {
		fmt.Fprintf(w, "Every image of the store is needed (%d): there is nothing to remove.\n", l.Kept)
		return
	}
	const wName, wWho = 42, 28
	row := func(cells ...string) {
		line := fmt.Sprintf("%-*s %-*s %*s", wName, cells[0], wWho, cells[1], wSize, cells[2])
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	row("IMAGE", "STILL NAMED BY", "SIZE")
	for _, i := range l.Images {
		who, rest := "", ""
		if len(i.Named) > 1 {
			rest = fmt.Sprintf(" +%d", len(i.Named)-1)
		}
		if len(i.Named) > 0 {
			who = cut(shortWho(i.Named[0]), wWho-len(rest)) + rest
		}
		row(cut(i.Title(), wName), who, amount(i.Size))
	}
	fmt.Fprintln(w)
	paragraph(w, "", fmt.Sprintf("Nobody needs %s; %d stay. Without them %s of %s would be free, once a boot went well.",
		count(len(l.Images), "image"), l.Kept, amount(l.Bytes), count(l.Layers, "layer")))
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// terminal is where a person types; nil when the input is something else.
func terminal(cmd *cobra.Command) io.Reader {
	if in, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		return in
	}
	return nil
}

// errNo ends a command whose question was not answered by yes.
var errNo = errors.New("nothing was removed")

// confirmed asks on the terminal. Only y and yes go on.
func confirmed(cmd *cobra.Command, question string) error {
	fmt.Fprintf(complaints(cmd), "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() { // a read of a terminal cannot be ended
		line, _ := bufio.NewReader(terminal(cmd)).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-cmd.Context().Done():
		return errNo
	case line := <-answer:
		if line != "y" && line != "yes" {
			return errNo
		}
		return nil
	}
}
