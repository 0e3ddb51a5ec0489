package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/nodeconfig"
)

// nameStore puts the store back into a storage.conf that was edited by hand on the node: the cluster lays the file when its own
// configuration changes, and not again. What else stands in the file stays.
func nameStore(ctx context.Context, node *backend.Node, report Report) error {
	const file = rhcos.Storage
	conf, err := node.Host.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the cluster lays it
	}
	if err != nil {
		return err
	}
	whole, err := nodeconfig.AddStore(string(conf), images.Store)
	if err != nil || whole == string(conf) {
		return err
	}
	err = host.File{Path: file, Data: []byte(whole), Perm: 0o644}.WriteFor(ctx, node.Host, func(ctx context.Context) error {
		_, err := node.Host.Run(ctx, "systemctl", "restart", "crio.service")
		return err
	})
	if err != nil {
		return fmt.Errorf("letting CRI-O read the list of its stores: %w", err)
	}
	report.Check(check.Check{
		ID: "images-conf", Title: message.T("CRI-O's list of stores"), Status: check.Warn, Observed: message.T("edited by hand; the image store was put back"),
		Expected: message.T("as the cluster writes it"), Source: message.Data(file),
		Fix: message.T("Put what else was edited into a MachineConfig: the cluster does not change a node whose managed files were edited."),
	})
	return nil
}
