package main

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/ledger"
)

func ledgerCommand(f *format) *cobra.Command {
	return group(&cobra.Command{Use: "ledger", Short: "The factory's ledger of sealed nodes"}, ledgerVerify(f), ledgerWiped())
}

func ledgerVerify(f *format) *cobra.Command {
	var since string
	cmd := withJSON(f, &cobra.Command{
		Use: "verify FILE", Short: "Tell whether a line of the ledger was changed, removed, inserted or moved", Args: cobra.ExactArgs(1),
		Long: `Verify reads the ledger that touchdown factory --ledger writes. Each line has the SHA-256 of all lines before it, so that the
ledger cannot be changed before its last line without being noticed. Lines that an earlier release wrote have none; they are counted,
and the lines behind them cover them.

Whether lines were cut off at the end, or the whole ledger was written again, the ledger alone cannot show. Note the digest that verify
prints, in another place, and give it later with --since: the ledger then has to begin with the same lines.`,
		Example: "  touchdown ledger verify /run/media/line/ledger.jsonl\n  touchdown ledger verify ledger.jsonl --since 2b0c5f0e...",
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		if sum, err := hex.DecodeString(since); since != "" && (err != nil || len(sum) != 32) {
			return usage(errors.New("--since: 64 hexadecimal digits, as touchdown ledger verify printed them"))
		}
		found, err := ledger.Verify(args[0], strings.ToLower(since)) // some programs print digests in capitals
		if err != nil {
			return notThere(err)
		}
		if asJSON {
			return printJSON(cmd, found)
		}
		return printText(cmd, chainText(found, since != ""))
	})
	cmd.Flags().StringVar(&since, "since", "", "digest that an earlier verify printed")
	return cmd
}

func chainText(c ledger.Chain, since bool) string {
	text := fmt.Sprintf("%-12s%d\n%-12s%s\n", "lines:", c.Lines, "sha256:", c.Digest)
	if c.Unchained > 0 {
		text += fmt.Sprintf("%-12s%d without the digest of those before, written by an earlier release\n", "", c.Unchained)
	}
	if since {
		text += fmt.Sprintf("%-12sbegins with the %d lines that had the digest of --since\n", "", c.Since)
	}
	return text
}

func ledgerWiped() *cobra.Command {
	return &cobra.Command{
		Use: "wiped LEDGER STATEMENT", Short: "Add the line of a wiped node to the ledger", Args: cobra.ExactArgs(2),
		Long: `Wiped takes the statement that touchdown wipe NODE --statement FILE wrote, checks it with the key that the ledger has of that
machine, and adds a line: the machine's last one, with the time of the wipe. When the machine is sealed again it gets another line.

The statement says that the node was told to wipe itself and finished. That nothing is left on its disk nobody can sign, and its
cluster is not erased: a machine with the same identity is a copy as before.`,
		Example: "  touchdown ledger wiped /run/media/line/ledger.jsonl sno-042.wiped.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			signed, err := readGiven(cmd, args[1], ledger.MaxStatement)
			if err != nil {
				return err
			}
			w, added, err := ledger.EnterWiped(args[0], signed)
			if err != nil {
				return notThere(err)
			}
			text := "has it already: "
			if added {
				text = "has a line more: "
			}
			return printText(cmd, args[0]+" "+text+cmp.Or(w.Serial, strings.Join(w.MACs, ", "))+" was wiped on "+w.At.Format(time.DateOnly)+"\n")
		},
	}
}
