package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"touchdown/backend/hardware"
	"touchdown/backend/host"
)

// inventory are the flags of `inventory`.
type inventory struct{ snapshot, replay string }

func inventoryCommand(c *common) *cobra.Command {
	var of inventory
	cmd := &cobra.Command{
		Use: "inventory", Short: "Print what this machine is made of", Args: cobra.NoArgs,
		Long: `Inventory prints the parts of this machine: type plate, firmware, processors, memory and its slots, disks and
partitions, network ports and addresses, PCI and USB devices, temperatures. It asks the kernel and the firmware, needs no
engine and no cluster, and changes nothing. Only root may read serial numbers and memory slots. What cannot be read is
named with the reason; the rest is printed all the same.

-o json prints one object with the field names of assisted-service's inventory, and further ones for what that lacks. What
could not be read is in "errors", by section.

--snapshot FILE also writes what was looked at into a new FILE (.tar.gz), for support: --replay FILE prints the inventory
of that machine elsewhere. A snapshot holds serial numbers and addresses, but no secrets.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asJSON, err := c.json()
			if err != nil {
				return err
			}
			found, err := of.look(cmd, c.hooks.root)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd, found.Document())
			}
			if _, err := io.WriteString(printed(cmd), found.Text()); err != nil {
				return fmt.Errorf("printing the inventory: %w", err)
			}
			return nil
		},
	}
	c.outputFlag(cmd)
	cmd.Flags().StringVar(&of.snapshot, "snapshot", "", "also write a snapshot of this machine into this file")
	cmd.Flags().StringVar(&of.replay, "replay", "", "print the inventory of the machine that this snapshot is of")
	return cmd
}

// maxSnapshot bounds a snapshot that is replayed, in bytes; hardware.Replay refuses smaller ones, too.
const maxSnapshot = 32 << 20

// look makes the inventory that the flags ask for.
func (of inventory) look(cmd *cobra.Command, root string) (*hardware.Inventory, error) {
	m := host.Open(host.Options{Root: root, NoPower: true, Log: slog.New(slog.DiscardHandler)})
	switch {
	case of.replay != "" && of.snapshot != "":
		return nil, usage(errors.New("--snapshot and --replay: a snapshot is taken of this machine or replayed, not both"))
	case of.replay != "":
		packed, err := readNamed(cmd, "replay", of.replay, maxSnapshot)
		if err != nil {
			return nil, err
		}
		return hardware.Replay(cmd.Context(), bytes.NewReader(packed))
	case of.snapshot != "":
		to := named{flag: "snapshot", file: of.snapshot}
		if err := to.mayWrite(); err != nil {
			return nil, err
		}
		var packed bytes.Buffer
		found, err := hardware.Snapshot(cmd.Context(), m, hardware.Options{}, &packed)
		if err != nil {
			return nil, err
		}
		if err := to.write("the snapshot", packed.Bytes(), 0o600); err != nil {
			return nil, err
		}
		fmt.Fprintf(complaints(cmd), "The snapshot is in %s (%s).\n", of.snapshot, amount(int64(packed.Len())))
		return found, nil
	}
	return hardware.Inspect(cmd.Context(), m, hardware.Options{All: true}), nil
}
