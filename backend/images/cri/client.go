// Package cri talks to CRI-O over its socket: what images are there, and what is missing pulled in parallel.
package cri

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"touchdown/backend/host"
	"touchdown/backend/images/auth"
)

// Socket is where CRI-O listens on an OpenShift node.
const Socket = "/var/run/crio/crio.sock"

const (
	// callTime is how long a call that only looks may take; CRI-O answers within 12 ms, with a busy disk within seconds.
	callTime = 20 * time.Second
	// messageLimit bounds an answer: 16 times what gRPC takes by default, for nodes with thousands of containers.
	messageLimit = 64 << 20
)

// Client is a connection to CRI-O. Its calls may run side by side.
type Client struct {
	conn     *grpc.ClientConn
	images   runtime.ImageServiceClient
	runtime  runtime.RuntimeServiceClient
	callTime time.Duration
}

// Image is an image that CRI-O has.
type Image struct {
	ID      string   // digest of its configuration, without the algorithm
	Tags    []string // names with a tag
	Digests []string // names with a digest: of the image, and of the index that it was chosen from
	Size    int64    // bytes, unpacked
	Pinned  bool     // garbage collection leaves it alone
}

// Container is a container that CRI-O has, running or not.
type Container struct {
	ID, Name, Namespace, Pod string
	Image                    string // as the pod names it
	ImageID                  string // what it was resolved to
	Running                  bool
}

// Version is what CRI-O says of itself.
type Version struct{ Name, Version, API string }

// Open makes a client for a machine's CRI-O. It connects with the first call.
func Open(m *host.Machine) (*Client, error) {
	path := m.Path(Socket)
	conn, err := grpc.NewClient("passthrough:///crio",
		grpc.WithTransportCredentials(insecure.NewCredentials()), // a socket that only root may use
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit)),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy(),
		// CRI-O restarts within a second: the default would wait up to two minutes for it.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}))
	if err != nil {
		return nil, fmt.Errorf("making a client for CRI-O: %w", err)
	}
	return &Client{
		conn: conn, images: runtime.NewImageServiceClient(conn), runtime: runtime.NewRuntimeServiceClient(conn), callTime: callTime,
	}, nil
}

// Close ends the connection.
func (c *Client) Close() error {
	if err := c.conn.Close(); err != nil {
		return fmt.Errorf("closing the connection to CRI-O: %w", err)
	}
	return nil
}

// ask makes a call that only looks, within callTime.
func ask[In, Out any](ctx context.Context, c *Client, doing string, call func(context.Context, In, ...grpc.CallOption) (Out, error), in In) (Out, error) {
	inner, cancel := context.WithTimeout(ctx, c.callTime)
	defer cancel()
	out, err := call(inner, in)
	if err != nil {
		return out, explain(ctx, doing, err)
	}
	return out, nil
}

// Version asks CRI-O for its version: the cheapest proof that it answers.
func (c *Client) Version(ctx context.Context) (Version, error) {
	v, err := ask(ctx, c, "asking CRI-O for its version", c.runtime.Version, &runtime.VersionRequest{})
	return Version{Name: v.GetRuntimeName(), Version: v.GetRuntimeVersion(), API: v.GetRuntimeApiVersion()}, err
}

// List returns all images, each once: one that is in two stores is reported twice by CRI-O.
func (c *Client) List(ctx context.Context) ([]Image, error) {
	answer, err := ask(ctx, c, "listing CRI-O's images", c.images.ListImages, &runtime.ListImagesRequest{})
	if err != nil {
		return nil, err
	}
	var all []Image
	at := map[string]int{}
	for _, from := range answer.GetImages() {
		i := image(from)
		if k, known := at[i.ID]; known {
			all[k].Tags, all[k].Digests = merge(all[k].Tags, i.Tags), merge(all[k].Digests, i.Digests)
			all[k].Pinned = all[k].Pinned || i.Pinned
			continue
		}
		at[i.ID] = len(all)
		all = append(all, i)
	}
	return all, nil
}

func image(from *runtime.Image) Image {
	return Image{
		ID: from.GetId(), Tags: from.GetRepoTags(), Digests: from.GetRepoDigests(), Size: int64(from.GetSize()), Pinned: from.GetPinned(),
	}
}

func merge(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Status returns the image that CRI-O would start a container of name with; nil when it has none.
func (c *Client) Status(ctx context.Context, name string) (*Image, error) {
	answer, err := ask(ctx, c, "asking CRI-O for "+name, c.images.ImageStatus, &runtime.ImageStatusRequest{Image: &runtime.ImageSpec{Image: name}})
	if err != nil || answer.GetImage() == nil {
		return nil, err
	}
	i := image(answer.GetImage())
	return &i, nil
}

// Remove takes an image away. CRI-O says yes to one that is not there, and no to one of a read-only store.
func (c *Client) Remove(ctx context.Context, name string) error {
	_, err := ask(ctx, c, "removing "+name, c.images.RemoveImage, &runtime.RemoveImageRequest{Image: &runtime.ImageSpec{Image: name}})
	return err
}

// Containers returns all containers, ended ones too: their image is in use as long as they are there.
func (c *Client) Containers(ctx context.Context) ([]Container, error) {
	answer, err := ask(ctx, c, "listing CRI-O's containers", c.runtime.ListContainers, &runtime.ListContainersRequest{})
	if err != nil {
		return nil, err
	}
	var all []Container
	for _, from := range answer.GetContainers() {
		labels := from.GetLabels()
		all = append(all, Container{
			ID: from.GetId(), Name: from.GetMetadata().GetName(),
			// The kubelet's labels; a container of anybody else has none.
			Namespace: labels["io.kubernetes.pod.namespace"], Pod: labels["io.kubernetes.pod.name"],
			Image: from.GetImage().GetUserSpecifiedImage(), ImageID: first(from.GetImageId(), from.GetImageRef()),
			Running: from.GetState() == runtime.ContainerState_CONTAINER_RUNNING,
		})
	}
	return all, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// PauseImage returns the image that the CRI-O that runs now starts each pod with; "" when it does not tell.
func (c *Client) PauseImage(ctx context.Context) (string, error) {
	answer, err := ask(ctx, c, "asking CRI-O for its configuration", c.runtime.Status, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		return "", err
	}
	var config struct {
		SandboxImage string `json:"sandboxImage"`
	}
	if text := answer.GetInfo()["config"]; text != "" && json.Unmarshal([]byte(text), &config) != nil {
		return "", nil // another runtime's idea of it
	}
	return config.SandboxImage, nil
}

// pull fetches one image once and returns the name with digest of what came.
func (c *Client) pull(ctx context.Context, name string, login *auth.Login) (string, error) {
	request := &runtime.PullImageRequest{Image: &runtime.ImageSpec{Image: name}}
	if login != nil {
		// CRI-O uses it for the registry of the name alone; for mirrors it reads the node's file itself.
		request.Auth = &runtime.AuthConfig{Username: login.User, Password: login.Password}
	}
	answer, err := c.images.PullImage(ctx, request)
	return answer.GetImageRef(), err
}
