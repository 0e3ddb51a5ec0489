package operators

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"touchdown/backend/domain"
	"touchdown/test/bench"
	"touchdown/test/wait"
)

// routerPod is the real router, openshift-router, and what plays its surroundings: the kubelet of the Deployment that the real ingress
// operator writes, from which its variables and volumes come, and haproxy. Haproxy and the traffic are not part of this tier: a script in
// its place tells of each reload and of the end, and its health port is here. Port 443 stays the bench's.
type routerPod struct {
	b      *bench.Cluster
	kube   kubernetes.Interface
	log    *os.File
	told   chan string // by the script
	health *http.Server

	program string
	root    string // of its files

	of   *appsv1.Deployment // whose pod runs
	cmd  *exec.Cmd
	gone chan struct{}

	mu    sync.Mutex
	times routerTimes
}

// routerTimes are those of the last change of pods.
type routerTimes struct{ ends, away, gone, begun, ready time.Time }

// routers are the pods by their cluster.
var routers sync.Map

// A connection that stays, as a console's, keeps a haproxy that is to end for 30 s (openshift/router, images/router/haproxy/reload-haproxy).
const haproxy = `#!/bin/sh
echo "${ROUTER_SHUTDOWN:+ends}" >/var/lib/haproxy/run/told
test -z "$ROUTER_SHUTDOWN" || sleep 30
`

func runRouter(t *testing.T, b *bench.Cluster) {
	t.Helper()
	noteRun(t, "router")
	config, err := clientcmd.BuildConfigFromFlags("", operatorConfig(b))
	fatal(t, err)
	p := &routerPod{b: b, program: program(t, "router"), root: filepath.Join(b.Dir, "router"), told: make(chan string, 64)}
	p.kube, err = kubernetes.NewForConfig(config)
	fatal(t, err)
	p.log, err = os.Create(filepath.Join(b.Dir, "logs", "router.log"))
	fatal(t, err)
	p.image(t)
	p.account(t)
	script, err := os.OpenFile(filepath.Join(p.root, "var/lib/haproxy/run/told"), os.O_RDWR, 0) // so that it never ends
	fatal(t, err)
	go func() {
		for lines := bufio.NewScanner(script); lines.Scan(); {
			p.told <- lines.Text()
		}
	}()
	routers.Store(b, p)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		p.follow(ctx)
	}()
	t.Cleanup(func() { cancel(); <-over; _ = script.Close(); _ = p.log.Close() })
	wait.Explain(t, "the end of the log of the router", func() string { return tail(p.log.Name(), 25) })
}

// follow has the pod of the Deployment run, until the test ends.
func (p *routerPod) follow(ctx context.Context) {
	defer p.kill()
	for ctx.Err() == nil {
		d, err := p.kube.AppsV1().Deployments(domain.RouterNamespace).Get(ctx, "router-default", metav1.GetOptions{})
		p.look()
		if err == nil && (p.of == nil || p.of.Generation != d.Generation) {
			err = p.replace(ctx, d)
		}
		if err != nil {
			fmt.Fprintln(p.log, "kubelet:", err)
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// look takes what the script tells of reloads, and notices a router that ended; it is started again.
func (p *routerPod) look() {
	if p.cmd == nil {
		return
	}
	for {
		select {
		case <-p.told:
			continue
		case <-p.gone:
			p.kill()
			p.runs(nil)
		default:
		}
		return
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// replace ends the pod and starts the next one, for which the API has to be there.
func (p *routerPod) replace(ctx context.Context, d *appsv1.Deployment) error {
	if p.cmd != nil && p.of != nil && reflect.DeepEqual(p.of.Spec.Template, d.Spec.Template) {
		p.runs(d)
		return p.is("serves")
	}
	if p.cmd != nil {
		if err := p.end(ctx); err != nil {
			return err
		}
	}
	d, err := p.kube.AppsV1().Deployments(domain.RouterNamespace).Get(ctx, d.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := p.mount(ctx, d); err != nil {
		return err
	}
	p.runs(d)
	if err := p.begin(ctx); err != nil {
		p.kill()
		p.runs(nil)
		return err
	}
	return p.is("serves")
}

func (p *routerPod) is(phase string) error {
	secret := ""
	for _, v := range p.of.Spec.Template.Spec.Volumes {
		if v.Name == "default-certificate" {
			secret = v.Secret.SecretName
		}
	}
	fmt.Fprintln(p.log, "kubelet: the router", phase, time.Now().Format(time.TimeOnly))
	return p.b.RouterIs(phase, p.of.Generation, secret)
}

// at notes when something was.
func (p *routerPod) at(note func(*routerTimes)) { p.mu.Lock(); defer p.mu.Unlock(); note(&p.times) }

func (p *routerPod) last() routerTimes { p.mu.Lock(); defer p.mu.Unlock(); return p.times }

func (p *routerPod) runs(d *appsv1.Deployment) { p.mu.Lock(); defer p.mu.Unlock(); p.of = d }

// deployment is the one whose pod runs.
func (p *routerPod) deployment() *appsv1.Deployment { p.mu.Lock(); defer p.mu.Unlock(); return p.of }

// end tells the router to end, as a kubelet does. It takes its 45 s unless the bench has no delays: a second signal ends it at once.
func (p *routerPod) end(ctx context.Context) error {
	if err := p.is("ends"); err != nil {
		return err
	}
	p.at(func(t *routerTimes) { *t = routerTimes{ends: time.Now()} })
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	for away := false; ; {
		if !p.b.Life() {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case what := <-p.told:
			away = away || what == "ends" // a reload that was told after it takes nothing back
		case <-p.gone:
			p.cmd = nil
			p.at(func(t *routerTimes) { t.gone = time.Now() })
			return p.let(away)
		case <-time.After(100 * time.Millisecond):
		}
		if away && p.health != nil {
			if err := p.let(false); err != nil {
				return err
			}
		}
	}
}

// let is where haproxy lets go of its ports.
func (p *routerPod) let(done bool) error {
	if done {
		return nil
	}
	if p.health != nil {
		_ = p.health.Close()
		p.health = nil
	}
	p.at(func(t *routerTimes) { t.away = time.Now() })
	return p.is("away")
}

func (p *routerPod) kill() {
	if p.health != nil {
		_ = p.health.Close()
		p.health = nil
	}
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.gone
		p.cmd = nil
	}
}

// begin starts the router and waits until it is ready, by the probe of its Deployment.
func (p *routerPod) begin(ctx context.Context) error {
	const enter = `for dir in usr proc dev; do mount --rbind /$dir "$1/$dir"; done; mount --bind "$2" "$1/openshift-router"; exec chroot "$1" /openshift-router --v=4`
	container := p.of.Spec.Template.Spec.Containers[0]
	cmd := exec.Command("unshare", "--mount", "sh", "-ec", enter, "sh", p.root, p.program)
	cmd.Stdout, cmd.Stderr, cmd.Env = p.log, p.log, variables(container)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }()
	p.cmd, p.gone = cmd, gone
	p.at(func(t *routerTimes) { t.begun = time.Now() })
	probe := container.StartupProbe.HTTPGet
	client := &http.Client{Timeout: time.Second} // a router that accepts and says nothing is asked again
	url := fmt.Sprintf("http://%s%s", net.JoinHostPort("127.0.0.1", probe.Port.String()), probe.Path)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gone:
			return errors.New("the router ended")
		case <-p.told:
			if err := p.serve(); err != nil {
				return err
			}
		case <-time.After(100 * time.Millisecond):
		}
		if answer, err := client.Get(url); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				p.at(func(t *routerTimes) { t.ready = time.Now() })
				return nil
			}
		}
	}
}

// serve is haproxy's port of plain HTTP, which answers the router's own probe.
func (p *routerPod) serve() error {
	if p.health != nil {
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:80")
	if err != nil {
		return err
	}
	p.health = &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Second}
	go func(s *http.Server) { _ = s.Serve(l) }(p.health)
	return nil
}
