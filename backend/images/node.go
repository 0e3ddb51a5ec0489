package images

import (
	"context"
	"time"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/kube"
)

// Node is the node whose images are worked on: its files, its cluster, and its CRI-O. What needs the files alone is a function of
// the machine.
type Node struct {
	host *host.Machine
	kube *kube.Cluster
	cri  *cri.Client
	now  func() time.Time
}

// Open opens a node; the connection to CRI-O is made by the first call that needs it. Without a cluster (nil) images can be listed
// and looked at.
func Open(m *host.Machine, c *kube.Cluster, now func() time.Time) (*Node, error) {
	runtime, err := cri.Open(m)
	if err != nil {
		return nil, err
	}
	return &Node{host: m, kube: c, cri: runtime, now: now}, nil
}

// Close ends the connection to CRI-O.
func (n *Node) Close() { _ = n.cri.Close() }

// Await waits until CRI-O answers, which it does not do at once when it was started; it fails with CRI-O's last answer after crioStart.
func (n *Node) Await(ctx context.Context) error { return n.cri.Await(ctx, crioStart) }

// AfterBoot looks at the images in a boot that is not a rehearsal: it waits for CRI-O, repairs what it can without a registry, keeps what
// it found for every screen, and lets the generation before go when all is well.
func (n *Node) AfterBoot(ctx context.Context) error {
	if err := n.Await(ctx); err != nil {
		return err
	}
	status, err := n.Look(ctx, Look{Repair: true, Idle: true})
	if err != nil {
		return err
	}
	if _, err := retire(ctx, n.host, status); err != nil {
		return err
	}
	if !status.Well() {
		return nil // it is kept, and every screen tells it
	}
	// Each byte, a layer at a time and only when nobody else wants the disk: what a month has not read is read again.
	_, err = n.Look(ctx, Look{Full: true, Repair: true, Idle: true})
	return err
}
