package cri_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func TestLook(t *testing.T) {
	s := critest.Start(t)
	c := s.Client(t)
	s.Pause = "quay.io/pause@" + digest("f")
	twice := critest.Image("a1", 7, "quay.io/a@"+digest("1"))
	s.Images = []*runtime.Image{critest.Image("a1", 7, "quay.io/a:v1", "quay.io/a@"+digest("1")), critest.Image("b2", 8, "quay.io/b:v2"), twice}
	twice.Pinned = true
	s.Containers = []*runtime.Container{{
		Id: "c1", Metadata: &runtime.ContainerMetadata{Name: "etcd"}, Image: &runtime.ImageSpec{UserSpecifiedImage: "quay.io/a:v1"}, ImageId: "a1",
		State: runtime.ContainerState_CONTAINER_RUNNING, Labels: map[string]string{"io.kubernetes.pod.namespace": "ns", "io.kubernetes.pod.name": "p"},
	}}
	if v, err := c.Version(t.Context()); err != nil || v.Version != "1.34.0" {
		t.Errorf("version %+v, %v", v, err)
	}
	all, err := c.List(t.Context())
	if err != nil || len(all) != 2 || all[0].ID != "a1" || len(all[0].Digests) != 1 || !all[0].Pinned || all[0].Size != 7 {
		t.Errorf("an image in two stores is not listed once: %+v, %v", all, err)
	}
	if i, err := c.Status(t.Context(), "quay.io/b:v2"); err != nil || i == nil || i.ID != "b2" {
		t.Errorf("status: %+v, %v", i, err)
	}
	if i, err := c.Status(t.Context(), "quay.io/none:1"); err != nil || i != nil {
		t.Errorf("status of nothing: %+v, %v", i, err)
	}
	boxes, err := c.Containers(t.Context())
	if err != nil || len(boxes) != 1 || boxes[0] != (cri.Container{ID: "c1", Name: "etcd", Namespace: "ns", Pod: "p", Image: "quay.io/a:v1", ImageID: "a1", Running: true}) {
		t.Errorf("containers: %+v, %v", boxes, err)
	}
	if p, err := c.PauseImage(t.Context()); err != nil || p != s.Pause {
		t.Errorf("pause image %q, %v", p, err)
	}
	if err := c.Remove(t.Context(), "quay.io/b:v2"); err != nil || len(s.Images) != 2 {
		t.Errorf("removed: %v, %d left", err, len(s.Images))
	}
}

// A CRI-O that is not there, says nothing, is another one, or cannot list: each is told with its own code and way on.
func TestTroubleHasAName(t *testing.T) {
	s := critest.Start(t)
	c := s.Client(t)
	for code, set := range map[string]func(){
		"CR-ERR":  func() { s.Trouble(errors.New("stat /x: "+strings.Repeat("é", 5000)), 0) },
		"CR-DUP":  func() { s.Trouble(errors.New("layer not known"), 0) },
		"CR-VERS": func() { s.Trouble(status.Error(codes.Unimplemented, "unknown service runtime.v1.ImageService"), 0) },
		"CR-MUTE": func() { s.Trouble(nil, 5*time.Second); c.SetCallTime(300 * time.Millisecond) },
	} {
		c.SetCallTime(wait.Timeout(0))
		set()
		_, err := c.List(t.Context())
		if p := problem.From(err); p.Code != code || p.Fix.String() == "" || len(p.Error()) > 2000 {
			t.Errorf("%s: %.300v", code, err)
		}
	}
	s.Trouble(nil, 0)
	c.SetCallTime(wait.Timeout(0))
	s.Stop()
	if _, err := c.List(t.Context()); problem.From(err).Code != "CR-AWAY" {
		t.Errorf("stopped: %v", err)
	}
	s.Listen(t)
	wait.Until(t, "the client to see that CRI-O is back", func(ctx context.Context) error {
		_, err := c.List(ctx)
		return err
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := c.List(ctx); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("an ended caller gets %v", err)
	}
}

// What is not a CRI-O at all: no socket, a plain file, a server that talks rubbish.
func TestNoSocket(t *testing.T) {
	root := t.TempDir()
	c, err := cri.Open(host.Open(host.Options{Root: root}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Version(t.Context()); problem.From(err).Code != "CR-AWAY" {
		t.Errorf("no socket: %v", err)
	}
	path := filepath.Join(root, cri.Socket)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Version(t.Context()); problem.From(err).Code != "CR-AWAY" {
		t.Errorf("a file for a socket: %v", err)
	}
}
