// Package backend is what a step is handed: the machine it runs on and the cluster on that machine.
package backend

import (
	"log/slog"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/kube"
)

// Node is the machine and its cluster. A step reaches both only through it.
type Node struct {
	Host *host.Machine
	Kube *kube.Cluster
	Now  func() time.Time
	Log  *slog.Logger
}
