package main

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"touchdown/steps/view"
	"touchdown/test/wait"
)

// watchingAPI asks the API without a break which certificate it serves for a name, until the returned function is called: that tells the
// first answer that was none of the two that may be served. A connection that fails is not an answer: the API of a single node restarts.
func (n *node) watchingAPI(host string) (end func() error) {
	ctx, stop := context.WithCancel(n.t.Context())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			leaf, err := n.cluster.Leaf(ctx, "6443", host)
			if err == nil && (leaf.Issuer.CommonName != "site CA" || leaf.VerifyHostname(host) != nil || time.Now().After(leaf.NotAfter)) {
				done <- fmt.Errorf("the API served a certificate of %s for %v", leaf.Issuer.CommonName, leaf.DNSNames)
				return
			}
		}
		done <- nil
	}()
	return func() error { stop(); return <-done }
}

// TestReplacedCertificatesAfterACut cuts `certificates replace` off behind events of its journal, one after the other: CRASH_N=0 takes each
// of them. The next engine ends what had begun, or the command does when it is given again; either way the new certificate is served then,
// the job is at its end, and at no moment the API shows one for the name that is not the site's own.
func TestReplacedCertificatesAfterACut(t *testing.T) {
	t.Parallel()
	const host = "api.shop.example.org"
	stride := 17
	if os.Getenv("CRASH_N") == "0" {
		stride = 1
	}
	n := newNode(t)
	r := n.start(0)
	n.lives()
	if code, out := n.apply(ownCert(t, time.Now().AddDate(1, 0, 0), host).withAPI()); code != exitOK {
		t.Fatalf("the landing ended with %d:\n%s", code, out)
	}
	c := &cutReplace{node: n, host: host, dir: t.TempDir()}
	for at := 1; ; at += stride {
		r.kill()
		var died bool
		if r, died = c.at(at); died {
			continue
		}
		t.Logf("%d events: %d cuts were ended by the next engine, %d by the command", at, c.resumed, c.repeated)
		if c.resumed == 0 || c.repeated == 0 {
			t.Errorf("the cuts did not fall on both sides of the start of the work")
		}
		return
	}
}

// cutReplace gives a landed node new certificates, with engines that die.
type cutReplace struct {
	*node
	host, dir         string
	resumed, repeated int
}

// at cuts off behind an event, and has the job ended. It returns the engine that lives, and whether another one died.
func (c *cutReplace) at(event int) (r *run, died bool) {
	t := c.t
	t.Helper()
	fresh := ownCert(t, time.Now().AddDate(0, 2, event), c.host)
	cert, key := filepath.Join(c.dir, "api.pem"), filepath.Join(c.dir, "api.key")
	if err := errors.Join(os.WriteFile(cert, []byte(fresh.cert), 0o600), os.WriteFile(key, []byte(fresh.key), 0o600)); err != nil {
		t.Fatal(err)
	}
	replace := append([]string{"certificates", "replace", "--api-cert", cert, "--api-key", key, "--force"}, waivers()...)
	end := c.watchingAPI(c.host)
	r = c.start(event)
	if code := c.cutOff(r, replace); code != exitOK {
		died = true
		r.kill()
		r = c.start(0)
		s := c.lives()
		if s.State == view.Working {
			s = c.ends()
		}
		if s.State == view.IsDone && c.serves(fresh) {
			c.resumed++
		} else if code, out := c.touchdown(replace...); code != exitOK {
			t.Fatalf("cut %d (%s): given again, it ends with %d:\n%s", event, s.State, code, out)
		} else {
			c.repeated++
		}
	}
	if s := c.ends(); s.State != view.IsDone || !c.serves(fresh) {
		t.Errorf("cut %d: the job is %s, and the API does not serve the new certificate", event, s.State)
	}
	if err := end(); err != nil {
		t.Errorf("cut %d: %v", event, err)
	}
	return r, died
}

// cutOff gives a command to an engine that dies at some event, and returns how it ended. The command, which would wait for the next engine,
// goes with it: the power of the whole node fails.
func (n *node) cutOff(r *run, args []string) (code int) {
	n.t.Helper()
	wait.Until(n.t, "the engine, or its death", func() error {
		select {
		case <-r.exited:
			return nil
		default:
		}
		_, err := n.client().Snapshot(n.t.Context())
		return err
	})
	cmd := exec.Command("touchdown", append([]string{"--socket", n.socket()}, args...)...)
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() {
		_ = cmd.Wait()
		ended <- cmd.ProcessState.ExitCode()
	}()
	select {
	case code = <-ended:
	case <-r.exited:
		_ = cmd.Process.Kill()
		<-ended
		code = exitFailed
	}
	return code
}

// serves tells whether the API serves a certificate.
func (c *cutReplace) serves(o own) bool {
	leaf, err := c.cluster.Leaf(c.t.Context(), "6443", c.host)
	return err == nil && strings.HasPrefix(o.cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})))
}
