package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"touchdown/backend/envelope"
	"touchdown/backend/host"
)

func mediaKeygen() *cobra.Command {
	var node, release bool
	cmd := &cobra.Command{
		Use: "keygen NAME", Short: "Make a key that signs media or releases, or the key of a node", Args: cobra.ExactArgs(1),
		Long: `Keygen makes a pair of keys: NAME.key, which nobody else may read, and NAME.pub. The first signs media (Ed25519); nodes
trust those whose public half they have (touchdown factory --media-key).

With --release it makes a key that signs releases of Touchdown (make release KEY=NAME.key): nodes that have NAME.pub
(touchdown factory --release-key) take them with touchdown update. Who has it can bring a program that runs as root, so that
it is another key than the one for media: neither is taken for the other, and a key without the mark of a release key,
such as each that was made before, is one for media.

With --node it makes the key of one node (age, X25519) instead: media can be sealed for the line in NAME.pub, and only
NAME.key opens them.

Neither file is overwritten. Keep signing keys off the nodes, and where you can take them away from whoever leaves.`,
		Example: "  touchdown media keygen factory\n  touchdown media keygen --release release\n  touchdown media keygen --node SN0042",
		RunE: func(cmd *cobra.Command, args []string) error {
			if node {
				return nodeKey(cmd, args[0])
			}
			return signingKey(cmd, args[0], release)
		},
	}
	cmd.Flags().BoolVar(&node, "node", false, "make the key of a node, for which media are sealed")
	cmd.Flags().BoolVar(&release, "release", false, "make a key that signs releases, and no media")
	cmd.MarkFlagsMutuallyExclusive("node", "release")
	return cmd
}

func signingKey(cmd *cobra.Command, name string, release bool) error {
	key, err := envelope.NewSigningKey()
	if err != nil {
		return err
	}
	private, public, err := key.Files()
	kind := "signing key"
	if release {
		kind, private, public = "release key", envelope.ForReleases(private), envelope.ForReleases(public)
	}
	if err == nil {
		err = writePair(name, private, public)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%s %s: private half in %s.key, public half in %s.pub\n", kind, key.ID(), name, name)
	return nil
}

func nodeKey(cmd *cobra.Command, name string) error {
	private, recipient, err := envelope.NewNodeKey()
	if err == nil {
		err = writePair(name, []byte(private+"\n"), []byte(recipient+"\n"))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%s\nprivate half in %s.key, public half in %s.pub\n", recipient, name, name)
	return nil
}

func writePair(name string, private, public []byte) error {
	if err := writeNew(name+".key", private, 0o600); err != nil {
		return err
	}
	if err := writeNew(name+".pub", public, 0o644); err != nil {
		_ = os.Remove(name + ".key")
		return err
	}
	return nil
}

func mediaRevoke() *cobra.Command {
	var list, reason string
	cmd := &cobra.Command{
		Use: "revoke KEY-ID", Short: "Put a signing key on the list of those that are no longer trusted", Args: cobra.ExactArgs(1),
		Long: `Revoke adds the id of a signing key to a list, which it makes when it is not there. Give the list to touchdown media
show --revoked, and to touchdown media write --revoked: then each new medium, signed with another key, carries it to its node.
Media that a revoked key signed are refused, also those that were made before it was lost.`,
		Example: `  touchdown media revoke 0f1e2d3c4b5a6978 --list revoked.txt --reason "laptop stolen"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if list == "" {
				return usage(errors.New("--list is missing: the file that has the revoked keys"))
			}
			return revoke(cmd, args[0], list, reason)
		},
	}
	cmd.Flags().StringVar(&list, "list", "", "the list of revoked keys")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for people")
	return cmd
}

func revoke(cmd *cobra.Command, id, list, reason string) error {
	if strings.ContainsAny(reason, "\r\n") {
		return usage(errors.New("--reason has more than one line"))
	}
	text, whole, err := host.ReadRegular(list, maxListFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	}
	if err == nil && !whole {
		return usage(fmt.Errorf("%s has more than %d bytes", list, maxListFile))
	}
	known, err := envelope.ParseRevoked(text)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", list, err))
	}
	if slices.Contains(known, id) {
		fmt.Fprintf(printed(cmd), "%s is on the list already\n", id)
		return nil
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	text = append(text, strings.TrimSpace(id+" "+reason)+"\n"...)
	if all, err := envelope.ParseRevoked(text); err != nil || !slices.Contains(all, id) { // a # begins a comment
		return usage(fmt.Errorf("%q is not the id of a key, which touchdown media keygen and show print", id))
	}
	if err := (named{flag: "list", file: list, replaces: true}).write(list, text, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(printed(cmd), "%s is revoked in %s, which has %d keys now\n", id, list, len(known)+1)
	return nil
}
