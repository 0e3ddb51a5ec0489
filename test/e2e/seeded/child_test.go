package seeded

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	seed "touchdown/backend/images"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/images/store"
	"touchdown/test/bench/node"
)

// This test's own program is put on the node too. There it does one operation of the image store and stands still at a point, so
// that a fault is injected exactly between two changes.
const (
	childOp    = "TOUCHDOWN_STORE_OP"
	childPoint = "TOUCHDOWN_STORE_POINT" // 0: go through
	childDrop  = "TOUCHDOWN_STORE_DROP"  // ids of images, separated by commas
	program    = "/var/tmp/seeded.test"
)

func TestMain(m *testing.M) {
	if op := os.Getenv(childOp); op != "" {
		if err := child(op); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(op string) error {
	p, err := layerstore.Open(seed.StoreDir)
	if err != nil {
		return err
	}
	point, _ := strconv.Atoi(os.Getenv(childPoint))
	points := 0
	p.Step = func(what string) {
		if points++; points == point {
			fmt.Printf("at %d %s\n", points, what)
			select {}
		}
	}
	defer func() { fmt.Println("points", points) }()
	ctx := context.Background()
	if op == "move" {
		_, err := p.Move(ctx, node.Graphroot, layerstore.Selection{})
		return err
	}
	var want layerstore.Selection
	if drop := os.Getenv(childDrop); op == "prune" {
		want = layerstore.Selection{Images: []string{}, Drop: strings.Split(drop, ",")}
	}
	s, err := store.Open(ctx, node.Graphroot)
	if err != nil {
		return err
	}
	g, err := p.Add(ctx, s, want, nil)
	if err != nil {
		return err
	}
	if err := p.Switch(ctx, g.N); err != nil || op != "prune" {
		return err
	}
	return p.Prune(ctx, node.Graphroot)
}
