// Package staticpod holds the bench's stand-in of kube-apiserver's static pods against OpenShift's own code: library-go's
// controllers, of the version in operator/go.mod, decide on the same move of a cluster, the same fall-back and the same undo. Both
// clusters have to tell the same. `make bench-staticpod` builds the controllers as a program.
package staticpod

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend/kube"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

const namespace = "openshift-kube-apiserver"

// bed is a cluster whose static pods are decided on by library-go's controllers, or by the stand-in.
type bed struct {
	*bench.Cluster
	t     *testing.T
	c     *kube.Cluster
	kube  kubernetes.Interface
	saved [][]byte
}

func newBed(t *testing.T, o bench.Options) *bed {
	t.Helper()
	b := &bed{t: t, Cluster: bench.Start(t, o)}
	var err error
	b.c, err = kube.Open(b.Kubeconfig, slog.New(slog.DiscardHandler))
	fatal(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", b.Kubeconfig)
	fatal(t, err)
	b.kube, err = kubernetes.NewForConfig(config)
	fatal(t, err)
	if len(o.Real) > 0 {
		b.decide()
	}
	return b
}

// decide starts library-go's controllers. The pod's definition is what the rest of the operator would have made of it: it is in the
// running revision, as all else, so that nothing is to be rolled out.
func (b *bed) decide() {
	b.t.Helper()
	program, err := filepath.Abs("../../../.cache/bench/bin/staticpods")
	fatal(b.t, err)
	if _, err := os.Stat(program); err != nil {
		wait.Unable(b.t, "%v: run make bench-staticpod", err)
	}
	op, err := b.c.Operator.KubeAPIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
	fatal(b.t, err)
	for _, name := range []string{"kube-apiserver-pod", fmt.Sprintf("kube-apiserver-pod-%d", op.Status.LatestAvailableRevision)} {
		definition := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"pod.yaml": pod}}
		_, err := b.kube.CoreV1().ConfigMaps(namespace).Create(b.t.Context(), definition, metav1.CreateOptions{})
		fatal(b.t, err)
	}
	log, err := os.Create(filepath.Join(b.Dir, "logs", "staticpods.log"))
	fatal(b.t, err)
	cmd := exec.Command(program, filepath.Join(b.Dir, "stand-ins.kubeconfig"), (minReady / pace).String())
	cmd.Env = append(os.Environ(), "OPERATOR_IMAGE=example/operator:1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	input, err := cmd.StdinPipe()
	fatal(b.t, err)
	fatal(b.t, cmd.Start())
	b.t.Cleanup(func() {
		_ = input.Close()
		if err := cmd.Wait(); err != nil {
			b.t.Errorf("the controllers ended: %v", err)
		}
		_ = log.Close()
	})
	wait.Explain(b.t, "the end of the controllers' log", func() string { return tail(log.Name()) })
	wait.Until(b.t, "the controllers to look at the cluster", func() error {
		op, err := b.c.Operator.KubeAPIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range op.Status.Conditions {
			if c.Type == "InstallerControllerDegraded" {
				return nil
			}
		}
		return errors.New("no condition InstallerControllerDegraded")
	})
}

func (b *bed) save(_ kube.Ref, original []byte) error {
	b.saved = append(b.saved, original)
	return nil
}

func (b *bed) state() (s bench.State) {
	b.t.Helper()
	wait.Until(b.t, "the bench to tell its state", func() (err error) {
		s, err = b.State()
		return err
	})
	return s
}

// told are the conditions by which Touchdown and the ClusterOperator know how far a roll-out is.
var told = map[string]bool{"NodeInstallerProgressing": true, "NodeInstallerDegraded": true, "StaticPodsAvailable": true, "StaticPodFallbackRevisionDegraded": true}

// picture is what the operator says of its static pods, one fact by line. Revisions are told as the newest one and the one that
// runs: how many there are depends on what came together.
func (b *bed) picture() (facts map[string]string, err error) {
	op, err := b.c.Operator.KubeAPIServers().Get(b.t.Context(), "cluster", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	co, err := b.c.Config.ClusterOperators().Get(b.t.Context(), "kube-apiserver", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	n := op.Status.NodeStatuses[0]
	say := func(args ...any) string {
		return number.ReplaceAllStringFunc(strings.TrimSpace(fmt.Sprintln(args...)), func(revision string) string {
			if revision == fmt.Sprint("revision ", n.CurrentRevision) && n.CurrentRevision != op.Status.LatestAvailableRevision {
				return "revision CURRENT"
			}
			return "revision LATEST" // or one that was: parts of the operator follow one another
		})
	}
	facts = map[string]string{
		"current": which(op, n.CurrentRevision), "target": which(op, n.TargetRevision),
		"failed": say(which(op, n.LastFailedRevision), n.LastFailedReason, "falls:", n.LastFallbackCount, "fails:", n.LastFailedCount, "time:", n.LastFailedTime != nil),
		"why":    number.ReplaceAllString(strings.Join(n.LastFailedRevisionErrors, "; "), "revision"),
	}
	sees := kube.RevisionsOf(op, nil)
	facts["Touchdown sees"] = say("fallen back:", sees.Fell(0), "pending:", sees.Pending(0).String() != "")
	for _, c := range op.Status.Conditions {
		if told[c.Type] {
			facts[c.Type] = say(c.Status, c.Reason, c.Message)
		}
	}
	for _, c := range co.Status.Conditions {
		switch c.Type {
		case "Progressing":
			facts["ClusterOperator Progressing"] = say(c.Status, c.Reason, c.Message)
		case "Degraded": // its message has a line for each part of the operator
			facts["ClusterOperator Degraded"] = say(c.Status)
		}
	}
	return facts, nil
}

var number = regexp.MustCompile(`revision \d+`)

// which names a revision.
func which(op *operatorv1.KubeAPIServer, revision int32) string {
	switch revision {
	case 0:
		return "none"
	case op.Status.LatestAvailableRevision:
		return "latest"
	case op.Status.NodeStatuses[0].CurrentRevision:
		return "current"
	}
	return "another"
}

// until waits for a picture in which all wanted facts are so.
func (b *bed) until(what string, want map[string]string) (facts map[string]string) {
	b.t.Helper()
	wait.Until(b.t, what, func() (err error) {
		if facts, err = b.picture(); err != nil {
			return err
		}
		for name, text := range want {
			if !strings.HasPrefix(facts[name], text) {
				return fmt.Errorf("%s is %q, not %q", name, facts[name], text)
			}
		}
		return nil
	})
	return facts
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-4000), io.SeekStart)
	}
	text, _ := io.ReadAll(file)
	return string(text)
}

// pod is as much of the static pod's definition as library-go reads. It has to be JSON where it begins with a brace.
const pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "kube-apiserver"}, "spec": {"terminationGracePeriodSeconds": 135}}`

const (
	pace     = 2 // times faster than life
	minReady = 30 * time.Second
)
