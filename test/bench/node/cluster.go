package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/test/wait"
)

// AdminKubeconfig is the administrator's kubeconfig that OpenShift keeps on the node; its server is localhost.
const AdminKubeconfig = "/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets/node-kubeconfigs/localhost.kubeconfig"

// Dial connects from inside the node. The address must hold an IP address, no name.
func (m *Machine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	m.mu.Lock()
	leader := m.leader
	m.mu.Unlock()
	if leader == 0 {
		return nil, errOff
	}
	return dialIn(ctx, fmt.Sprintf("/proc/%d/ns/net", leader), network, address)
}

// DialLAN connects from the LAN's own namespace, as a machine at the site does.
func (m *Machine) DialLAN(ctx context.Context, network, address string) (net.Conn, error) {
	return dialIn(ctx, m.LAN(), network, address)
}

// dialIn makes the connection on a thread that is in the other namespace for as long as it takes.
func dialIn(ctx context.Context, namespace, network, address string) (net.Conn, error) {
	target, err := os.Open(namespace)
	if err != nil {
		return nil, fmt.Errorf("opening the network namespace: %w", err)
	}
	defer target.Close()
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("opening the own network namespace: %w", err)
	}
	defer home.Close()
	if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("entering the network namespace: %w", err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	// A thread that does not get back stays locked and ends with its goroutine.
	if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
	return conn, err
}

// Kubernetes is how a test reaches the API of the node's cluster as its administrator, from inside the node.
func (m *Machine) Kubernetes() (*rest.Config, error) {
	data, err := m.ReadFile(AdminKubeconfig)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		return nil, fmt.Errorf("reading the node's kubeconfig: %w", err)
	}
	config.Host = strings.Replace(config.Host, "localhost", "127.0.0.1", 1)
	config.ServerName = "localhost"
	config.Dial = m.Dial
	config.QPS, config.Burst = 100, 200
	config.Timeout = wait.Timeout(5 * time.Second)
	return config, nil
}

// Approve approves every certificate request that nobody has decided yet: the part of an administrator. It returns their names.
func (m *Machine) Approve(ctx context.Context) ([]string, error) {
	out, err := m.Run(ctx, "controlplane", "approve", "--state", "/var/lib/bench/controlplane")
	return strings.Fields(string(out)), err
}

// PodsReady waits until the Node and all its pods are ready, with containers that were started since the last boot.
func (m *Machine) PodsReady(ctx context.Context) error {
	return wait.For(ctx, "the node's pods", m.podsReady)
}

func (m *Machine) podsReady(ctx context.Context) error {
	config, err := m.Kubernetes()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing nodes: %w", err)
	}
	for _, n := range nodes.Items {
		for _, c := range n.Status.Conditions {
			if c.Type == v1.NodeReady && c.Status != v1.ConditionTrue {
				return fmt.Errorf("node %s is not ready: %s", n.Name, c.Message)
			}
		}
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	if len(nodes.Items) == 0 || len(pods.Items) == 0 {
		return errors.New("the cluster has no node or no pods")
	}
	m.mu.Lock()
	since := m.booted
	m.mu.Unlock()
	for _, p := range pods.Items {
		if err := running(&p, since); err != nil {
			return fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, err)
		}
	}
	return nil
}

func running(p *v1.Pod, since time.Time) error {
	if len(p.Status.ContainerStatuses) == 0 {
		return errors.New("no container yet")
	}
	for _, c := range p.Status.ContainerStatuses {
		switch {
		case c.State.Waiting != nil:
			return fmt.Errorf("%s: %s", c.State.Waiting.Reason, c.State.Waiting.Message)
		// The API tells whole seconds.
		case c.State.Running == nil || c.State.Running.StartedAt.Before(&metav1.Time{Time: since.Add(-time.Second)}):
			return errors.New("not started since the boot")
		case !c.Ready:
			return errors.New("not ready")
		}
	}
	return nil
}
