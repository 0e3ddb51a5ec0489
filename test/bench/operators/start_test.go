// Package operators runs real operators of OpenShift 4.21 against the bench's control plane, in the place of its stand-ins, and
// the product's move against them. What differs from the stand-ins becomes a table. `make real-operators` builds them.
package operators

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"touchdown/test/bench"
	"touchdown/test/wait"
)

// release is what the operators are told they are part of; the bench's seed has the same.
const release = "4.18.21"

// program is where the build leaves an operator of operators.lock, or the machine-config-controller of its module.
func program(t testing.TB, name string) string {
	t.Helper()
	if name == "machine-config" {
		return built(t, filepath.Join("bin", "machine-config-controller"))
	}
	lock, err := os.ReadFile("operators.lock")
	fatal(t, err)
	for line := range strings.Lines(string(lock)) {
		if field := strings.Fields(line); len(field) > 2 && field[0] == name {
			return built(t, filepath.Join("bin", "operator-"+name+"-"+field[2][:12]))
		}
	}
	t.Fatalf("operators.lock has no operator %s", name)
	return ""
}

// built is something in the bench's cache.
func built(t testing.TB, name string) string {
	t.Helper()
	wait.Slow(t) // who asks for it starts a cluster
	path, err := filepath.Abs(filepath.Join("../../../.cache/bench", name))
	fatal(t, err)
	if _, err := os.Stat(path); err != nil {
		wait.Unable(t, "%v: run make real-operators", err)
	}
	return path
}

// run starts an operator against a cluster and ends it with the test. An operator that exits is started again, as its
// pod would be: operators leave when the feature gates change, or the API server is away for too long.
func run(t *testing.T, b *bench.Cluster, name string, env []string, args ...string) {
	t.Helper()
	path := program(t, name)
	noteRun(t, name)
	log, err := os.Create(filepath.Join(b.Dir, "logs", name+".log"))
	fatal(t, err)
	hosts := hostsFile(t, b)
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		defer log.Close()
		for {
			// A separate mount namespace: there the names of the cluster lead to the bench.
			cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", `mount --bind "$1" /etc/hosts && shift && exec "$@"`, "sh", hosts, path}, args...)...)
			cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, b.Dir
			cmd.Env = append(os.Environ(), append(env, "KUBECONFIG="+operatorConfig(b), "POD_NAME="+name, "GOMAXPROCS=2")...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := cmd.Start(); err != nil {
				fmt.Fprintln(log, "starting it:", err)
				return
			}
			gone := make(chan error, 1)
			go func() { gone <- cmd.Wait() }()
			select {
			case <-ended:
				_ = cmd.Process.Kill()
				<-gone
				return
			case err := <-gone:
				fmt.Fprintln(log, "it ended, and is started again:", err)
			}
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Second):
			}
		}
	}()
	t.Cleanup(func() { close(ended); <-over })
	wait.Explain(t, "the end of the log of operator "+name, func() string { return tail(log.Name(), 15) })
}

// hostsFile has the names that operators ask for, below the current domain and the new one.
func hostsFile(t testing.TB, b *bench.Cluster) string {
	t.Helper()
	text := "127.0.0.1 localhost\n"
	for _, d := range []string{b.Domain, site, secondSite} {
		text += b.Address + " api." + d
		for _, host := range []string{"console-openshift-console", "downloads-openshift-console", "oauth-openshift", "canary-openshift-ingress-canary"} {
			text += " " + host + ".apps." + d
		}
		text += "\n"
	}
	path := filepath.Join(b.Dir, "hosts")
	fatal(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func operatorConfig(b *bench.Cluster) string { return filepath.Join(b.Dir, "stand-ins.kubeconfig") }

func tail(path string, n int) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	var last []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if last = append(last, lines.Text()); len(last) > n {
			last = last[1:]
		}
	}
	return strings.Join(last, "\n")
}

// port finds one that is free.
func port(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
	defer l.Close()
	_, number, err := net.SplitHostPort(l.Addr().String())
	fatal(t, err)
	return number
}

// configFile is the one that operators of library-go read.
func configFile(t testing.TB, b *bench.Cluster, name string) string {
	t.Helper()
	path := filepath.Join(b.Dir, name+".yaml")
	text := "apiVersion: operator.openshift.io/v1\nkind: GenericOperatorConfig\nleaderElection: {disable: true}\nservingInfo: {bindAddress: \"127.0.0.1:" + port(t) + "\"}\n"
	fatal(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func runKubeAPIServer(t *testing.T, b *bench.Cluster) {
	t.Helper()
	run(t, b, "kube-apiserver", []string{
		"OPERATOR_IMAGE_VERSION=" + release, "OPERAND_IMAGE_VERSION=1.34.1", "IMAGE=example/hyperkube:1", "OPERATOR_IMAGE=example/operator:1",
	}, "operator", "--config", configFile(t, b, "kube-apiserver"), "--kubeconfig", operatorConfig(b), "--namespace", "openshift-kube-apiserver-operator", "-v", "2")
}

func runIngress(t *testing.T, b *bench.Cluster) {
	t.Helper()
	run(t, b, "ingress", nil, "start", "--namespace", "openshift-ingress-operator", "--image", "example/router:1", "--canary-image", "example/canary:1",
		"--release-version", release, "--metrics-listen-addr", "127.0.0.1:"+port(t), "--shutdown-file", filepath.Join(b.Dir, "pki", "router-ca.crt"))
}

func runAuthentication(t *testing.T, b *bench.Cluster) {
	t.Helper()
	run(t, b, "authentication", []string{
		"OPERATOR_IMAGE_VERSION=" + release, "OPERAND_OAUTH_SERVER_IMAGE_VERSION=" + release + "_openshift",
		"OPERAND_OAUTH_APISERVER_IMAGE_VERSION=" + release, "IMAGE_OAUTH_SERVER=example/oauth:1", "IMAGE_OAUTH_APISERVER=example/oauthapi:1",
	}, "operator", "--config", configFile(t, b, "authentication"), "--kubeconfig", operatorConfig(b), "--namespace", "openshift-authentication-operator", "-v", "2")
}

func runConsole(t *testing.T, b *bench.Cluster) {
	t.Helper()
	run(t, b, "console", []string{"OPERATOR_IMAGE_VERSION=" + release, "CONSOLE_IMAGE=example/console:1", "DOWNLOADS_IMAGE=example/downloads:1", "OPERATOR_NAME=console-operator"},
		"operator", "--config", configFile(t, b, "console"), "--kubeconfig", operatorConfig(b), "--namespace", "openshift-console-operator", "-v", "2")
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
