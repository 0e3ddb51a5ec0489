package manifests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"touchdown/backend/kube"
)

// at is where an object is in the API, and the path of it.
type at struct {
	kube.Ref
	path string
}

// place tells where an object that the API serves has its place.
func place(o Object, resource string) at {
	group, version := o.group(), o.APIVersion[strings.IndexByte(o.APIVersion, '/')+1:]
	path := root(o.APIVersion)
	if o.Namespace != "" {
		path += "/namespaces/" + o.Namespace
	}
	return at{kube.Ref{Group: group, Version: version, Resource: resource, Namespace: o.Namespace, Name: o.Name}, path + "/" + resource + "/" + o.Name}
}

func root(apiVersion string) string {
	if strings.Contains(apiVersion, "/") {
		return "/apis/" + apiVersion
	}
	return "/api/" + apiVersion
}

// resource asks the API for the resource of a kind; "" when it does not serve it.
func resource(ctx context.Context, c *kube.Cluster, apiVersion, kind string) (name string, namespaced bool, err error) {
	err = c.Do(ctx, "looking for "+kind, func(ctx context.Context) error {
		name = ""
		var list metav1.APIResourceList
		err := c.Core.RESTClient().Get().AbsPath(root(apiVersion)).Do(ctx).Into(&list)
		if apierrors.IsNotFound(err) {
			return nil
		}
		for _, r := range list.APIResources {
			if r.Kind == kind && !strings.Contains(r.Name, "/") { // not pods/status
				name, namespaced = r.Name, r.Namespaced
			}
		}
		return err
	})
	return name, namespaced, err
}

// apply applies an object server-side. It takes no field from another manager.
func apply(ctx context.Context, c *kube.Cluster, to at, tree map[string]any) error {
	_, err := answer(ctx, c, to, tree, false)
	return err
}

// answer is apply, or has the API only judge that, with the object as the API has it then, or would have it.
func answer(ctx context.Context, c *kube.Cluster, to at, tree map[string]any, dryRun bool) (is []byte, err error) {
	body, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", to.Ref, err)
	}
	doing := "applying "
	if dryRun {
		doing = "trying to apply "
	}
	var refusal error // what no repeat cures, although the API's code says so
	err = c.Do(ctx, doing+to.String(), func(ctx context.Context) error {
		call := c.Core.RESTClient().Patch(types.ApplyPatchType).AbsPath(to.path).Param("fieldManager", manager).
			Param("fieldValidation", metav1.FieldValidationStrict).Body(body) // a mistyped field is not dropped without a word
		if dryRun {
			call = call.Param("dryRun", metav1.DryRunAll)
		}
		refusal = nil
		result := call.Do(ctx)
		err := result.Error() // Raw's lacks the API's own words
		if held(err) != nil || malformed(err) {
			refusal = err
			return nil
		}
		if err == nil {
			is, err = result.Raw()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return is, refusal
}

// held are the fields that other managers have, and who they are, in the API's words; nil where that is not why err came.
func held(err error) (fields []string) {
	var status apierrors.APIStatus
	if !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) || !errors.As(err, &status) {
		return nil
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			fields = append(fields, cause.Field+": "+cause.Message)
		}
	}
	return fields
}

// mute tells whether a webhook kept the API from judging: one that has side effects is not asked in a dry run.
func mute(err error) bool {
	return apierrors.IsBadRequest(err) && strings.Contains(err.Error(), "does not support dry run")
}

// judged tells whether the API refuses an object for what is in it.
func judged(err error) bool {
	return malformed(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// malformed tells whether the API cannot make an object of what it was given. It answers 500 then, as it does for
// its own passing faults: k8s.io/apimachinery v0.34.1, pkg/util/managedfields/internal/structuredmerge.go.
func malformed(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) &&
		(strings.Contains(err.Error(), "failed to create typed patch object") || strings.Contains(err.Error(), "failed to convert new object"))
}
