package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/backend/layout"
	"touchdown/backend/support"
	"touchdown/steps/chosen"
	"touchdown/steps/offered"
	"touchdown/steps/session"
)

// maxRecord bounds the record of a terminal that is read: some tries of a summary, and what was on the screen between them.
const maxRecord = 16 << 20

func reportBundle(c *connection) *cobra.Command {
	const all = "all" // of a flag without a value
	var serial, record, stick string
	var serve time.Duration
	cmd := &cobra.Command{
		Use: "bundle", Short: "Write the support bundle (.tar.gz, no secrets) to standard output", Args: cobra.NoArgs,
		Long: `Bundle writes an archive for support: journal, log, answers, report and inventory of Touchdown, the system's journal, the logs of
kubelet, CRI-O and NetworkManager, the state of the network, and how the cluster's operators, nodes, pods, events and certificate
requests are. What looks like a secret is taken out; read the archive before you pass it on. What cannot be had, such as the cluster's
objects without an API, is named in node/missing.txt. It is made in memory, takes 2 minutes at most, and needs neither network nor free
disk.

Over SSH: ssh core@node sudo /usr/local/bin/touchdown report bundle > bundle.tar.gz. With --stick it goes onto the stick in the machine, with at most
2 MiB, onto a FAT volume that nothing else uses; what is there stays, and nothing is mounted. Without network and stick, --serial prints
a summary of at most 256 KiB as text with check sums onto the terminal, 5 minutes at 9600 bits per second; record it, and make the
archive of the record with --read. That names the lines that are missing or damaged: --serial=LINES prints these again within an hour,
for the same record.

With --serve the node offers the bundle at its address in the site's network, port 8765: once, for 10 minutes, below a path that nobody
guesses, over HTTP without encryption. The command tells the address and the SHA-256 to compare with, waits until the bundle was fetched,
and tells by whom; Ctrl-C ends the offer. --serve=1m to --serve=1h: for so long. Where no engine answers, the bundle has what can be had without one.`,
		Example: "  touchdown report bundle > bundle.tar.gz\n  touchdown report bundle --stick\n  touchdown report bundle --stick=sdb1\n  touchdown report bundle --serve\n  touchdown report bundle --serial\n  touchdown report bundle --serial=7,900-950\n  touchdown report bundle --read console.log > summary.tar.gz",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case serve != 0:
				return c.serveBundle(cmd, serve)
			case record != "":
				return readSummary(cmd, record)
			case serial != "":
				return c.serialSummary(cmd, strings.TrimPrefix(serial, all))
			case stick != "":
				return c.bundleOnStick(cmd, strings.TrimPrefix(stick, all))
			}
			if err := exportFrom(cmd.Context(), cmd, c.client(), session.Bundle); !errors.Is(err, session.ErrNoEngine) {
				return explainClient(err)
			}
			return c.bundleWithoutEngine(cmd)
		},
	}
	cmd.Flags().StringVar(&serial, "serial", "", "print a summary as text, for a serial line; =7,900-950: these lines of it again")
	cmd.Flags().Lookup("serial").NoOptDefVal = all
	cmd.Flags().StringVar(&stick, "stick", "", "write it to the stick in the machine; =sdb1: to that volume")
	cmd.Flags().Lookup("stick").NoOptDefVal = all
	cmd.Flags().StringVar(&record, "read", "", "make the archive from the record of a terminal")
	cmd.Flags().DurationVar(&serve, "serve", 0, "offer it on the network, once; =30m: for so long")
	cmd.Flags().Lookup("serve").NoOptDefVal = offered.Life.String()
	cmd.MarkFlagsMutuallyExclusive("serial", "read", "stick", "serve")
	return cmd
}

func (c *connection) serialSummary(cmd *cobra.Command, lines string) error {
	archive, err := c.client().Export(cmd.Context(), session.Document(support.Summary))
	if err != nil {
		return explainClient(err)
	}
	text, err := support.Serial(archive, lines)
	if err != nil {
		return usage(err)
	}
	return printText(cmd, string(text))
}

func (c *connection) bundleOnStick(cmd *cobra.Command, volume string) error {
	told, err := c.client().Export(cmd.Context(), session.BundleOnStick+session.Document("/"+volume))
	if err != nil {
		return explainClient(err)
	}
	var saved chosen.Saved
	if err := json.Unmarshal(told, &saved); err != nil {
		return fmt.Errorf("reading the engine's answer: %w", err)
	}
	return printText(cmd, fmt.Sprintf("%s: %s, %d bytes, SHA-256 %s\nThe stick can be taken out.\n", saved.Volume, saved.File, saved.Bytes, saved.SHA256))
}

// bundleWithoutEngine makes what can be had without one: a node whose engine does not start needs support most.
func (c *connection) bundleWithoutEngine(cmd *cobra.Command) error {
	if toTerminal(cmd) {
		return printArchive(cmd, nil)
	}
	fmt.Fprintln(complaints(cmd), "No engine answers: the bundle has only what the node's services say, and the engine's log, journal and report.")
	node := host.Open(host.Options{Root: c.hooks.root, NoPower: true, Log: slog.New(slog.DiscardHandler)})
	state := cmp.Or(c.engine.state, env("TOUCHDOWN_STATE", layout.State))
	asking := support.Asking{Host: node, Mask: func(text string) string { return text }, Tail: maxRecord}
	archive, err := support.WithoutEngine(cmd.Context(), asking, state, time.Now())
	if err != nil {
		return err
	}
	return printArchive(cmd, archive)
}

func readSummary(cmd *cobra.Command, record string) error {
	text, err := readNamed(cmd, "read", record, maxRecord)
	if err != nil {
		return err
	}
	archive, err := support.Unserial(text)
	if err != nil {
		return err
	}
	return printArchive(cmd, archive)
}
