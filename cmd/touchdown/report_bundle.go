package main

import (
	"github.com/spf13/cobra"

	"touchdown/backend/support"
	"touchdown/steps/engine"
)

// maxRecord bounds the record of a terminal that is read: some tries of a summary, and what was on the screen between them.
const maxRecord = 16 << 20

func reportBundle(c *connection) *cobra.Command {
	var serial bool
	var record string
	cmd := &cobra.Command{
		Use: "bundle", Short: "Write the support bundle (.tar.gz, no secrets) to standard output", Args: cobra.NoArgs,
		Long: `Bundle writes an archive for support: journal, log, answers, report and inventory of Touchdown, the system's journal, the logs of
kubelet, CRI-O and NetworkManager, the state of the network, and how the cluster's operators, nodes, pods, events and certificate
requests are. What looks like a secret is taken out; read the archive before you pass it on. What cannot be had, such as the cluster's
objects without an API, is named in node/missing.txt. It is made in memory, takes 2 minutes at most, and needs neither network nor free
disk.

Over SSH: ssh core@node sudo touchdown report bundle > bundle.tar.gz. Without a network, --serial prints a summary of at most 256 KiB as
text with check sums onto the terminal, 5 minutes at 9600 bits per second; record it, and make the archive of the record with --read. A
second try within 15 minutes prints the same summary, and fills the gaps of the first.`,
		Example: "  touchdown report bundle > bundle.tar.gz\n  touchdown report bundle --serial\n  touchdown report bundle --read console.log > summary.tar.gz",
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case record != "":
				return readSummary(cmd, record)
			case serial:
				return c.serialSummary(cmd)
			}
			return c.export(cmd, engine.Bundle)
		},
	}
	cmd.Flags().BoolVar(&serial, "serial", false, "print a summary as text, for a serial line")
	cmd.Flags().StringVar(&record, "read", "", "make the archive from the record of a terminal")
	cmd.MarkFlagsMutuallyExclusive("serial", "read")
	return cmd
}

func (c *connection) serialSummary(cmd *cobra.Command) error {
	archive, err := c.client().Export(cmd.Context(), engine.Document(support.Summary))
	if err != nil {
		return explainClient(err)
	}
	return printText(cmd, string(support.Serial(archive)))
}

func readSummary(cmd *cobra.Command, record string) error {
	text, err := readNamed("read", record, maxRecord)
	if err != nil {
		return err
	}
	archive, err := support.Unserial(text)
	if err != nil {
		return err
	}
	return printArchive(cmd, archive)
}
