package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"touchdown/backend/host"
	"touchdown/backend/images"
	"touchdown/backend/kube"
)

// listing are the flags of `images list`.
type listing struct{ payload, offline, all bool }

func (c imageCommands) list() *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use: "list", Short: "Print which images the node must have, who needs them, and which are there", Args: cobra.NoArgs,
		Long: `List asks the cluster, reads the node's own files and asks CRI-O, and prints one line for each image: who needs
it, how large it is (unpacked; with a + what has to be fetched for one that is missing), whether it is here, whether the
node does not come up without it, and the numbers of the notes below. A source that cannot be read is named; the others
are printed all the same; where neither cluster nor CRI-O can be read, it ends with 1. Missing images come first, then the boot-critical ones.

Boot-critical are: the pause image, static pods, images that services of the node run by podman, workloads of priority
class system-node-critical, and those of the platform's namespaces for control plane, network, names and ingress.

-o json prints one object: format (1), summary (counts; sizes in bytes), images (digest, id, names, component, need
(boot, run or spare), bootCritical, needers (who, need, source, pullAlways), present, missing (the names to be pulled),
pinned, size, download, pullAlways, sources, findings (kind, status, text, fix)), unread (source, reason), storeRead.`,
	}
	c.engine.add(cmd)
	json := tableFlag(cmd)
	cmd.Flags().BoolVar(&l.payload, "payload", false, "want every image of the release, not only what is used of it")
	cmd.Flags().BoolVar(&l.offline, "offline", false, "do not ask registries for the sizes of missing images")
	cmd.Flags().BoolVarP(&l.all, "all", "a", false, "print also what nobody runs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		asJSON, err := json()
		if err != nil {
			return err
		}
		r, err := c.wanted(cmd.Context(), l)
		if err != nil {
			return interrupted(cmd.Context(), err)
		}
		if asJSON {
			return errors.Join(printJSON(cmd, r), unlisted(r))
		}
		imageTable{all: l.all}.print(printed(cmd), r)
		return unlisted(r)
	}
	return cmd
}

// unlisted is the error of a list for which neither the cluster nor CRI-O could be asked. The list has only the images that the node's own
// files name, and does not tell which of them are here.
func unlisted(r *images.Wanted) error {
	why := map[string]string{}
	for _, u := range r.Unread {
		why[u.Source] = u.Reason.String()
	}
	if r.StoreRead || why["cluster"] == "" {
		return nil
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("neither the cluster nor CRI-O could be read, so the list has only the images that the node's own files name: cluster: %s; CRI-O: %s", why["cluster"], why["crio"])}
}

// wanted makes the list of the node that the flags name. A cluster or CRI-O that is away is told in the result.
func (c imageCommands) wanted(ctx context.Context, l listing) (*images.Wanted, error) {
	log := slog.New(slog.DiscardHandler)
	m := host.Open(host.Options{Root: c.hooks.root, NoPower: true, Log: log})
	cluster, away := kube.Open(c.engine.kubeconfig, log)
	if away != nil {
		cluster = nil
	} else if c.hooks.cluster != nil {
		c.hooks.cluster(cluster)
	}
	here, err := images.Open(m, cluster, time.Now)
	if err != nil {
		return nil, err
	}
	defer here.Close()
	return here.Wanted(ctx, images.Listing{Payload: l.payload, Offline: l.offline, Away: away})
}
