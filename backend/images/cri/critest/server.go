// Package critest is a CRI-O for tests: a real gRPC server on a unix socket below a test's root, without containers.
package critest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/host"
	"touchdown/backend/images/cri"
)

// Server answers as it was told. Its fields are set before a call that they concern.
type Server struct {
	runtime.UnimplementedImageServiceServer
	runtime.UnimplementedRuntimeServiceServer

	Root       string // of the machine on which it listens
	Images     []*runtime.Image
	Containers []*runtime.Container
	Pause      string // what it says that its pause image is
	Short      string // a name that it refuses: no setting completes it
	// OnPull is called for each pull, try counting from 1; what it returns is the answer. nil: all go well at once.
	OnPull func(ctx context.Context, name string, try int) error

	mu     sync.Mutex
	fail   error
	slow   time.Duration
	tries  map[string]int
	pulled []string
	auths  map[string]*runtime.AuthConfig
	now    int
	most   int
	asked  int
	server *grpc.Server
}

// Start starts a server below its own root, until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	// Not the test's own folder: its long name would not leave room for the path of a socket.
	root, err := os.MkdirTemp("", "cri-")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Root: root, tries: map[string]int{}, auths: map[string]*runtime.AuthConfig{}}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s.Listen(t)
	t.Cleanup(func() { s.Stop() })
	return s
}

// Listen starts to answer, again after a Stop.
func (s *Server) Listen(t testing.TB) {
	t.Helper()
	path := filepath.Join(s.Root, cri.Socket)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.server = grpc.NewServer()
	runtime.RegisterImageServiceServer(s.server, s)
	runtime.RegisterRuntimeServiceServer(s.server, s)
	go func() { _ = s.server.Serve(listener) }() // ends with Stop
}

// Stop stops answering, as CRI-O does that is killed.
func (s *Server) Stop() { s.server.Stop() }

// Client connects to it.
func (s *Server) Client(t testing.TB) *cri.Client {
	t.Helper()
	c, err := cri.Open(host.Open(host.Options{Root: s.Root}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Pulled are the names that were pulled well, in the order in which they were begun.
func (s *Server) Pulled() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pulled)
}

// Tries tells how often a name was pulled.
func (s *Server) Tries(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries[name]
}

// Most is how many pulls ran at once at most.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Asked counts the calls of ImageStatus.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Auth is the credentials that came with the last pull of a name.
func (s *Server) Auth(name string) *runtime.AuthConfig {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.auths[name]
}

// Trouble makes everything but pulls take so long, and end like this.
func (s *Server) Trouble(fail error, slow time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.slow = fail, slow
}

func (s *Server) ready(ctx context.Context) error {
	s.mu.Lock()
	fail, slow := s.fail, s.slow
	s.mu.Unlock()
	select {
	case <-time.After(slow):
		return fail
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Version implements the interface.
func (s *Server) Version(ctx context.Context, _ *runtime.VersionRequest) (*runtime.VersionResponse, error) {
	return &runtime.VersionResponse{RuntimeName: "cri-o", RuntimeVersion: "1.34.0", RuntimeApiVersion: "v1"}, s.ready(ctx)
}

// Status implements the interface.
func (s *Server) Status(ctx context.Context, _ *runtime.StatusRequest) (*runtime.StatusResponse, error) {
	info := map[string]string{"config": fmt.Sprintf(`{"crio":{},"sandboxImage":%q}`, s.Pause)}
	return &runtime.StatusResponse{Status: &runtime.RuntimeStatus{}, Info: info}, s.ready(ctx)
}

// ListContainers implements the interface.
func (s *Server) ListContainers(ctx context.Context, _ *runtime.ListContainersRequest) (*runtime.ListContainersResponse, error) {
	return &runtime.ListContainersResponse{Containers: s.Containers}, s.ready(ctx)
}

// ListImages implements the interface.
func (s *Server) ListImages(ctx context.Context, _ *runtime.ListImagesRequest) (*runtime.ListImagesResponse, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &runtime.ListImagesResponse{Images: slices.Clone(s.Images)}, nil
}

// ImageStatus implements the interface: an image is found by its names and by its ID, as CRI-O does it.
func (s *Server) ImageStatus(ctx context.Context, in *runtime.ImageStatusRequest) (*runtime.ImageStatusResponse, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	name := in.GetImage().GetImage()
	if name != "" && name == s.Short {
		return nil, fmt.Errorf("short-name %q did not resolve to an alias and no unqualified-search registries are defined", name)
	}
	for _, i := range s.Images {
		if i.Id == name || slices.Contains(i.RepoTags, name) || slices.Contains(i.RepoDigests, name) || slices.Contains(i.RepoTags, name+":latest") {
			return &runtime.ImageStatusResponse{Image: i}, nil
		}
	}
	return &runtime.ImageStatusResponse{}, nil
}

// RemoveImage implements the interface.
func (s *Server) RemoveImage(ctx context.Context, in *runtime.RemoveImageRequest) (*runtime.RemoveImageResponse, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := in.GetImage().GetImage()
	s.Images = slices.DeleteFunc(s.Images, func(i *runtime.Image) bool {
		return i.Id == name || slices.Contains(i.RepoTags, name) || slices.Contains(i.RepoDigests, name)
	})
	return &runtime.RemoveImageResponse{}, nil
}

// PullImage implements the interface.
func (s *Server) PullImage(ctx context.Context, in *runtime.PullImageRequest) (*runtime.PullImageResponse, error) {
	name := in.GetImage().GetImage()
	s.mu.Lock()
	s.tries[name]++
	s.auths[name] = in.GetAuth()
	try := s.tries[name]
	s.now++
	s.most = max(s.most, s.now)
	s.pulled = append(s.pulled, name)
	s.mu.Unlock()
	var err error
	if s.OnPull != nil {
		err = s.OnPull(ctx, name, try)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now--
	if err != nil {
		at := slices.Index(s.pulled, name)
		s.pulled = slices.Delete(s.pulled, at, at+1)
		return nil, err
	}
	s.Images = append(s.Images, Image(fmt.Sprintf("id-%d", len(s.Images)), 1000, name))
	return &runtime.PullImageResponse{ImageRef: name}, nil
}

// Image makes an image with names: those with a digest, and those with a tag.
func Image(id string, size uint64, names ...string) *runtime.Image {
	i := &runtime.Image{Id: id, Size: size}
	for _, n := range names {
		if strings.Contains(n, "@") {
			i.RepoDigests = append(i.RepoDigests, n)
		} else {
			i.RepoTags = append(i.RepoTags, n)
		}
	}
	return i
}
