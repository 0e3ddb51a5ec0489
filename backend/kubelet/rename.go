package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout/rhcos"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// identity is what the kubelet keeps that says under which name it is known. The recipe of OpenShift's CI empties the whole
// folder but for config.json; what belongs to pods goes with the pods anyway, when the kubelet finds that it knows none of them.
var identity = []string{
	rhcos.KubeletPKI + "/kubelet-*", kubeconfig, "/var/lib/kubelet/cpu_manager_state", "/var/lib/kubelet/memory_manager_state",
}

// StaticName is the name that the machine has over reboots.
func StaticName(m *host.Machine) (string, error) {
	b, err := m.ReadFile(hostname)
	if errors.Is(err, fs.ErrNotExist) {
		return m.Hostname()
	}
	return strings.TrimSpace(string(b)), err
}

// Rename gives the machine another name, in the order of the recipe that OpenShift's CI uses on single nodes: the Node goes while
// the API still answers, then all that runs is stopped, and the kubelet loses its identity. A reboot must follow. Each part is
// safe to repeat, with the API away too, once the Node is gone.
func Rename(ctx context.Context, m *host.Machine, c *kube.Cluster, from, to string, save kube.Save) error {
	if Active(ctx, m) { // else a Rename that was cut off has stopped it, and the API with it
		if err := Forget(ctx, c, from, save); err != nil {
			return err
		}
		if err := Stop(ctx, m); err != nil {
			return err
		}
	}
	if _, err := m.Run(ctx, "systemctl", "stop", runtime); err != nil {
		return fmt.Errorf("stopping CRI-O: %w", err)
	}
	for _, pattern := range identity {
		files, err := m.Glob(pattern)
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := m.Remove(f); err != nil {
				return err
			}
		}
	}
	if _, err := m.Run(ctx, "hostnamectl", "hostname", to); err != nil {
		return &problem.Problem{
			Code: "HST-SET", Summary: message.T("The machine does not take its new name."), Fix: message.T("Retry; undo keeps the old name."), Err: err,
		}
	}
	return nil
}
