// Command crictl asks the node's CRI-O, in the words of the tool of that name, which is not a module that could be had.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const usage = "images | pull IMAGE... | inspecti IMAGE | rmi IMAGE... | run IMAGE [COMMAND...] | rmp POD... | pods | ps"

// client speaks to CRI-O.
type client struct {
	images cri.ImageServiceClient
	run    cri.RuntimeServiceClient
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	conn, err := grpc.NewClient("unix:///run/crio/crio.sock", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
	if err == nil && len(os.Args) > 1 {
		c := &client{cri.NewImageServiceClient(conn), cri.NewRuntimeServiceClient(conn)}
		err = c.do(ctx, os.Args[1], os.Args[2:])
	} else if err == nil {
		err = errors.New(usage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "crictl:", err)
		os.Exit(1)
	}
}

func (c *client) do(ctx context.Context, verb string, args []string) error {
	each := func(f func(string) error) error {
		var errs []error
		for _, arg := range args {
			errs = append(errs, f(arg))
		}
		return errors.Join(errs...)
	}
	switch {
	case verb == "images":
		return c.list(ctx)
	case verb == "ps":
		return c.containers(ctx)
	case verb == "pods":
		return c.pods(ctx)
	case verb == "pull":
		return each(func(name string) error {
			begun := time.Now()
			r, err := c.images.PullImage(ctx, &cri.PullImageRequest{Image: &cri.ImageSpec{Image: name}})
			fmt.Printf("%s after %.2f s\n", r.GetImageRef(), time.Since(begun).Seconds())
			return err
		})
	case verb == "rmi":
		return each(func(name string) error {
			_, err := c.images.RemoveImage(ctx, &cri.RemoveImageRequest{Image: &cri.ImageSpec{Image: name}})
			return err
		})
	case verb == "rmp":
		return each(func(id string) error { return c.removePod(ctx, id) })
	case verb == "inspecti" && len(args) == 1:
		return c.inspect(ctx, args[0])
	case verb == "run" && len(args) > 0:
		return c.start(ctx, args[0], args[1:])
	}
	return errors.New(usage)
}

// removePod may meet the kubelet, which removes containers of pods that it does not know while this does: what one finds gone
// is an error to it. So it tries again until the pod is gone, five times at most.
func (c *client) removePod(ctx context.Context, id string) (err error) {
	for range 5 {
		_, stop := c.run.StopPodSandbox(ctx, &cri.StopPodSandboxRequest{PodSandboxId: id})
		_, remove := c.run.RemovePodSandbox(ctx, &cri.RemovePodSandboxRequest{PodSandboxId: id})
		if err = errors.Join(stop, remove); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func (c *client) list(ctx context.Context) error {
	all, err := c.images.ListImages(ctx, &cri.ListImagesRequest{})
	if err != nil {
		return err
	}
	slices.SortFunc(all.Images, func(a, b *cri.Image) int {
		return strings.Compare(fmt.Sprint(a.RepoTags, a.RepoDigests), fmt.Sprint(b.RepoTags, b.RepoDigests))
	})
	for _, i := range all.Images {
		pinned := ""
		if i.Pinned {
			pinned = " pinned"
		}
		fmt.Printf("%.12s %d %s%s\n", i.Id, i.Size, strings.Join(append(i.RepoTags, i.RepoDigests...), " "), pinned)
	}
	return nil
}

func (c *client) inspect(ctx context.Context, name string) error {
	answer, err := c.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: name}})
	if err != nil {
		return err
	}
	if answer.Image == nil {
		return fmt.Errorf("no such image: %s", name)
	}
	data, err := json.MarshalIndent(answer.Image, "", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", data)
	return nil
}

func (c *client) containers(ctx context.Context) error {
	all, err := c.run.ListContainers(ctx, &cri.ListContainersRequest{})
	if err != nil {
		return err
	}
	for _, i := range all.Containers {
		fmt.Printf("%.12s %s %s %s attempt %d of pod %s/%s\n", i.Id, i.State, i.Metadata.Name, i.Image.GetUserSpecifiedImage(), i.Metadata.Attempt,
			i.Labels["io.kubernetes.pod.namespace"], i.Labels["io.kubernetes.pod.name"])
	}
	return nil
}

func (c *client) pods(ctx context.Context) error {
	all, err := c.run.ListPodSandbox(ctx, &cri.ListPodSandboxRequest{})
	if err != nil {
		return err
	}
	for _, i := range all.Items {
		fmt.Printf("%s %s %s/%s\n", i.Id, i.State, i.Metadata.Namespace, i.Metadata.Name)
	}
	return nil
}

// start runs a pod of one container with the host's network, and prints the pod's ID.
func (c *client) start(ctx context.Context, image string, command []string) error {
	name := fmt.Sprintf("run-%d", time.Now().UnixNano())
	options := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE}
	sandbox := &cri.PodSandboxConfig{
		Metadata: &cri.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name},
		Linux:    &cri.LinuxPodSandboxConfig{SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: options}},
	}
	pod, err := c.run.RunPodSandbox(ctx, &cri.RunPodSandboxRequest{Config: sandbox})
	if err != nil {
		return err
	}
	made, err := c.run.CreateContainer(ctx, &cri.CreateContainerRequest{PodSandboxId: pod.PodSandboxId, SandboxConfig: sandbox, Config: &cri.ContainerConfig{
		Metadata: &cri.ContainerMetadata{Name: "main"}, Image: &cri.ImageSpec{Image: image, UserSpecifiedImage: image}, Command: command,
		Linux: &cri.LinuxContainerConfig{SecurityContext: &cri.LinuxContainerSecurityContext{NamespaceOptions: options}},
	}})
	if err != nil {
		return err
	}
	if _, err := c.run.StartContainer(ctx, &cri.StartContainerRequest{ContainerId: made.ContainerId}); err != nil {
		return err
	}
	fmt.Println(pod.PodSandboxId)
	return nil
}
