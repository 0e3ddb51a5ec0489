package wanted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"touchdown/backend/images/ref"
	"touchdown/backend/kube"
	"touchdown/backend/layout"
	"touchdown/backend/message"
)

// imageReferences is where a release image lists the images that it is made of.
const imageReferences = "/release-manifests/image-references"

// payloadLimit bounds that list: it is about 100 KiB.
const payloadLimit = 16 << 20

// release notes the release image, and reads its payload.
func (g *gathering) release(ctx context.Context, c *kube.Cluster, s *store, o Options) error {
	version, err := c.Get(ctx, kube.Ref{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions", Name: "version"})
	if err != nil {
		return err
	}
	var desired struct{ Image string }
	if err := decode(version, &desired, "status", "desired"); err != nil || desired.Image == "" {
		g.note("release", message.T("The cluster does not report its release."))
		return nil
	}
	g.add(use{desired.Image, Needer{Who: "ClusterVersion version", Need: Boot, Source: "release"}})
	if err := g.readPayload(ctx, s, desired.Image, o); err != nil {
		g.fail("release", fmt.Errorf("the list of its images is not readable: %w", err))
	}
	return nil
}

func (g *gathering) readPayload(ctx context.Context, s *store, image string, o Options) error {
	if o.File == nil {
		return errors.New("the container store is not open")
	}
	there := s.find(ctx, image)
	if there == nil {
		return errors.New("the release image is not in the store")
	}
	b, err := o.File(ctx, *there, imageReferences)
	if err != nil {
		return err
	}
	if len(b) > payloadLimit {
		return fmt.Errorf("it is larger than %d bytes", payloadLimit)
	}
	var stream struct {
		Spec struct {
			Tags []struct {
				Name string
				From struct{ Kind, Name string }
			}
		}
	}
	if err := json.Unmarshal(b, &stream); err != nil {
		return fmt.Errorf("reading %s: %w", imageReferences, err)
	}
	for _, tag := range stream.Spec.Tags {
		r, err := ref.Parse(tag.From.Name)
		if err != nil || r.Digest == "" {
			continue // a release names all by digest
		}
		g.mu.Lock()
		g.components[r.Digest] = tag.Name
		g.payload = append(g.payload, tag.From.Name)
		g.mu.Unlock()
		if o.Payload {
			g.add(use{tag.From.Name, Needer{Who: payload, Need: Run, Source: "release"}})
		}
	}
	return nil
}

// machineConfig notes the images of the operating system. They are unpacked on the disk already, and not run.
func (g *gathering) machineConfig(ctx context.Context, c *kube.Cluster) error {
	pool, err := c.Get(ctx, kube.MachineConfigPool(layout.Pool))
	if err != nil || pool == nil {
		return err
	}
	var configuration struct{ Name string }
	if err := decode(pool, &configuration, "spec", "configuration"); err != nil || configuration.Name == "" {
		return err
	}
	rendered, err := c.Get(ctx, kube.MachineConfig(configuration.Name))
	if err != nil {
		return err
	}
	var spec struct{ OSImageURL, BaseOSExtensionsContainerImage string }
	if err := decode(rendered, &spec, "spec"); err != nil {
		return err
	}
	for _, image := range []string{spec.OSImageURL, spec.BaseOSExtensionsContainerImage} {
		if image != "" {
			g.add(use{image, Needer{Who: "MachineConfig " + configuration.Name, Need: Spare, Source: "machineconfigs"}})
		}
	}
	return nil
}
