package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
)

func reportCountersign() *cobra.Command {
	var keyFile, out string
	cmd := &cobra.Command{
		Use: "countersign FILE --key KEY --out OUT", Short: "Sign a signed report as a second person", Args: cobra.ExactArgs(1),
		Long: `Countersign adds the signature of a person to report.signed.json, so that four eyes stand behind a seal or a hand-over: the node
signed what it found, and a person who read the report signs the same. KEY is that person's own (touchdown media keygen NAME); it stays
with the person and never comes onto the node. First check with touchdown report verify whose report it is.

The result goes into OUT, which must not exist; FILE stays as it was, for earlier releases, which know one signature. touchdown report
verify OUT --second-key NAME.pub demands both. A factory that demands two people for each seal needs no such command:
touchdown factory --second-key has the second person sign before the node is sealed.`,
		Example: "  touchdown report countersign report.signed.json --key anna.key --out report.countersigned.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage(errors.New("--out is missing: the file to write"))
			}
			return countersign(cmd, args[0], keyFile, out)
		},
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "private key of the second person; only its owner may be able to read it")
	cmd.Flags().StringVar(&out, "out", "", "file to write; it must not exist")
	return cmd
}

func countersign(cmd *cobra.Command, file, keyFile, out string) error {
	key, err := readSigningKey(cmd, keyFile)
	if err != nil {
		return err
	}
	t, err := readReport(cmd, file)
	if err != nil {
		return err
	}
	if t.proof == nil {
		return notSigned()
	}
	signed, err := t.proof.Countersign(key)
	if err != nil {
		return err
	}
	if err := writeNew(out, signed, 0o600); err != nil {
		return err
	}
	line := func(text string) string { return strings.Join(strings.Fields(text), " ") + "\n" }
	return printText(cmd, line("serial "+t.Node.Serial+": "+t.Verdict)+line("signed by key "+t.proof.Key.ID()+", and now by key "+key.ID()+": "+out))
}
