package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"touchdown/backend/message"

	"touchdown/backend"
	"touchdown/backend/check"
	"touchdown/backend/images"
	"touchdown/backend/nodeconfig"
)

// leftOut tells of images that CRI-O lists and has half only: what a pull that was cut off leaves.
func leftOut(s images.Seeded) check.Check {
	c := check.Check{
		ID: "images-half", Title: message.T("Undamaged images"), Status: check.Warn, Observed: message.N(len(s.LeftOut), "%d is not, and was left out", "%d are not, and were left out"),
		Expected: message.T("all are"), Source: message.T("the lists of CRI-O's own store"), Fix: message.T("Remove and pull them again (crictl rmi, crictl pull), then retry."),
	}
	for _, gone := range s.LeftOut {
		name := gone.Image
		if len(gone.Names) > 0 {
			name = gone.Names[0]
		}
		c.Evidence = append(c.Evidence, message.F("%s: %s", name, gone.Why))
	}
	return c
}

// nameStore puts the store back into a storage.conf that was edited by hand on the node: the cluster lays the file when its own
// configuration changes, and not again. What else stands in the file stays.
func nameStore(ctx context.Context, node *backend.Node, report Report) error {
	const file = "/etc/containers/storage.conf"
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
	if err := node.Host.WriteFile(file, []byte(whole), 0o644); err != nil {
		return err
	}
	report.Check(check.Check{
		ID: "images-conf", Title: message.T("CRI-O's list of stores"), Status: check.Warn, Observed: message.T("edited by hand; the image store was put back"),
		Expected: message.T("as the cluster writes it"), Source: message.Data(file),
		Fix: message.T("Put what else was edited into a MachineConfig: the cluster does not change a node whose managed files were edited."),
	})
	if _, err := node.Host.Run(ctx, "systemctl", "restart", "crio.service"); err != nil {
		return fmt.Errorf("letting CRI-O read the list of its stores: %w", err)
	}
	return nil
}
