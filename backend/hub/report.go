package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/host"
	"touchdown/backend/kube"
)

// ReportRef names the ConfigMap of the cluster that holds the report of its landing, for a hub and for whoever has no access to the node.
var ReportRef = kube.ConfigMap("openshift-config", "touchdown-report")

// mostReport is the most bytes that a ConfigMap may hold: kubernetes/kubernetes pkg/apis/core/validation/validation.go, MaxSecretSize,
// v1.34.1.
const mostReport = 1 << 20

// PutReport puts files of the report in dir into the cluster, in this order, as far as a ConfigMap holds them. The first has to be there.
// It returns the names of those that found no room. A ConfigMap of that name that Touchdown did not make is left alone.
func PutReport(ctx context.Context, c *kube.Cluster, save kube.Save, dir string, names ...string) (left []string, err error) {
	data, room := map[string]string{}, mostReport
	for i, name := range names {
		text, whole, err := host.ReadRegular(filepath.Join(dir, name), int64(room))
		switch {
		case errors.Is(err, fs.ErrNotExist) && i > 0:
		case err != nil:
			return nil, fmt.Errorf("reading the report: %w", err)
		case !whole || len(name)+len(text) > room:
			left = append(left, name)
		case !utf8.Valid(text):
			return nil, fmt.Errorf("reading the report: %s is not UTF-8", name)
		default:
			data[name], room = string(text), room-len(name)-len(text)
		}
	}
	have, err := reportOf(ctx, c)
	switch {
	case err != nil || maps.Equal(have, data):
	case have != nil: // what an earlier report had and this one lacks must not stay beside it
		_, err = c.ChangePart(ctx, ReportRef, "data", func(part map[string]any) error {
			clear(part)
			for name, text := range data {
				part[name] = text
			}
			return nil
		}, save)
	default:
		_, err = c.PutConfigMap(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: ReportRef.Namespace, Name: ReportRef.Name, Labels: managed,
			},
			Data: data,
		}, save)
	}
	return left, err
}

// reportOf is what the ConfigMap holds, nil where there is none; an error where it is not ours.
func reportOf(ctx context.Context, c *kube.Cluster) (data map[string]string, err error) {
	ours := false
	err = c.Do(ctx, "reading "+ReportRef.String(), func(ctx context.Context) error {
		data = nil
		object, err := c.Core.ConfigMaps(ReportRef.Namespace).Get(ctx, ReportRef.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		data, ours = map[string]string{}, object.Labels[managedBy] == managed[managedBy]
		maps.Copy(data, object.Data)
		return nil
	})
	if err == nil && data != nil && !ours {
		err = fmt.Errorf("%s is there, and Touchdown did not make it", ReportRef)
	}
	return data, err
}

// RestoreReport puts back what was saved before one change. A ConfigMap that is gone has nothing to be put back into: an undo that was
// repeated has removed it, or its owner.
func RestoreReport(ctx context.Context, c *kube.Cluster, original []byte) (changed bool, err error) {
	changed, err = c.Restore(ctx, original)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return changed, err
}
