package apiserver

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// startEtcd starts an etcd of one member at an address. It syncs every write: without that a power cut would prove nothing.
func startEtcd(ctx context.Context, dir, address string) (*embed.Etcd, string, error) {
	wal.SegmentSizeBytes = 8 << 20 // preallocated twice: the usual 64 MB would make every copy of a state slow and large
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.LogLevel = "error"
	cfg.TickMs, cfg.ElectionMs = 50, 500
	client := url.URL{Scheme: "http", Host: address + ":2379"}
	peer := url.URL{Scheme: "http", Host: address + ":2380"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("starting etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, client.String(), nil
	case err := <-server.Err():
		return nil, "", fmt.Errorf("starting etcd: %w", err)
	case <-ctx.Done():
		server.Close()
		return nil, "", fmt.Errorf("starting etcd: %w", ctx.Err())
	}
}
