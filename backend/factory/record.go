package factory

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
)

// recordFormat is the version of the record. It only rises.
const recordFormat = 1

// Record is what the factory knows of the node that it ships.
type Record struct {
	Format          int               `json:"format"`
	Baked           time.Time         `json:"baked"`
	Tool            string            `json:"tool"` // version of Touchdown
	Serial          string            `json:"serial,omitempty"`
	Version         string            `json:"openshiftVersion"`
	ClusterID       string            `json:"clusterID"`
	Infrastructure  string            `json:"infrastructureName"`
	Domain          string            `json:"domain"` // cluster name and base domain
	Node            string            `json:"node"`
	Addresses       []string          `json:"nodeAddresses"`
	ClusterNetworks []string          `json:"clusterNetworks"`
	ServiceNetworks []string          `json:"serviceNetworks"`
	InsideNetworks  map[string]string `json:"insideNetworks,omitempty"`    // of OVN-Kubernetes, where the cluster names others than the defaults
	PodMTU          int               `json:"clusterNetworkMTU,omitempty"` // bytes; 0: not known, as in records of earlier releases
	Proxy           bool              `json:"proxy"`
	Ports           []Port            `json:"ports"`
	Uplink          string            `json:"uplink"`       // the port under br-ex
	Certificates    map[string]string `json:"certificates"` // ends of the kubelet's, by file
	Files           map[string]string `json:"files"`        // SHA-256 of what was baked, by path
}

// Port is one network port of the machine.
type Port struct {
	Name string `json:"name"`
	Type string `json:"type"` // NetworkManager's word: ethernet, bond, vlan
	MAC  string `json:"mac"`
}

// MakeRecord collects the record.
func MakeRecord(ctx context.Context, m *host.Machine, c *kube.Cluster, wanted []Manifest, tool string, now time.Time) (Record, error) {
	cluster, err := Look(ctx, c)
	if err != nil {
		return Record{}, err
	}
	r := Record{
		Format: recordFormat, Baked: now.UTC().Truncate(time.Second), Tool: tool, Serial: m.Serial(),
		Domain: cluster.Domain, Node: cluster.Node, Addresses: cluster.Own.Texts(),
		Certificates: map[string]string{}, Files: sums(m, wanted),
	}
	if err := r.readCluster(ctx, c); err != nil {
		return r, err
	}
	operator, err := c.Get(ctx, networkOperator())
	if err != nil {
		return r, err
	}
	r.InsideNetworks = InsideNetworks(operator)
	u, err := FindUplink(ctx, m, cluster.Own)
	if err != nil {
		return r, err
	}
	r.Uplink = u.Device
	if r.Ports, err = ports(ctx, m); err != nil {
		return r, err
	}
	for _, name := range kubeletCertificates {
		if leaf, err := certificate(m, name); err == nil {
			r.Certificates[name] = leaf.NotAfter.UTC().Format(time.RFC3339)
		}
	}
	return r, nil
}

func (r *Record) readCluster(ctx context.Context, c *kube.Cluster) error {
	return c.Do(ctx, "reading the cluster's identity", func(ctx context.Context) error {
		version, err := c.Config.ClusterVersions().Get(ctx, "version", metav1.GetOptions{})
		if err != nil {
			return err
		}
		infra, err := c.Config.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		networks, err := c.Config.Networks().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		proxy, err := c.Config.Proxies().Get(ctx, "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		r.Version, r.ClusterID = version.Status.Desired.Version, string(version.Spec.ClusterID)
		r.Infrastructure = infra.Status.InfrastructureName
		r.ClusterNetworks, r.ServiceNetworks, r.PodMTU = nil, networks.Status.ServiceNetwork, networks.Status.ClusterNetworkMTU
		for _, n := range networks.Status.ClusterNetwork {
			r.ClusterNetworks = append(r.ClusterNetworks, n.CIDR)
		}
		r.Proxy = proxy.Spec.HTTPProxy != "" || proxy.Spec.HTTPSProxy != ""
		return nil
	})
}

func ports(ctx context.Context, m *host.Machine) ([]Port, error) {
	out, err := m.Run(ctx, "nmcli", "-t", "-f", "DEVICE,TYPE", "device")
	if err != nil {
		return nil, fmt.Errorf("listing the network ports: %w", err)
	}
	var all []Port
	for line := range strings.Lines(out) {
		name, kind, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch kind {
		case "ethernet", "bond", "vlan":
			mac, err := m.ReadFile(path.Join("/sys/class/net", name, "address"))
			if err != nil {
				return nil, err
			}
			all = append(all, Port{name, kind, strings.TrimSpace(string(mac))})
		}
	}
	return all, nil
}

// SaveRecord writes the record, unless the one that is there says the same but for its time.
func SaveRecord(m *host.Machine, r Record) (changed bool, err error) {
	if old, err := LoadRecord(m); err == nil {
		old.Baked = r.Baked
		if same(old, r) {
			return false, nil
		}
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return false, fmt.Errorf("encoding the factory's record: %w", err)
	}
	return true, m.WriteFile(layout.FactoryRecord, append(data, '\n'), 0o600)
}

// LoadRecord reads the record of a baked node.
func LoadRecord(m *host.Machine) (Record, error) {
	var r Record
	data, err := m.ReadFile(layout.FactoryRecord)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("reading the factory's record: %w", err)
	}
	return r, nil
}
