// Package manifests brings objects of the site's own into the cluster: tried before anything is changed, applied server-side in their
// order, and taken back. It never takes a field from another manager.
package manifests

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"touchdown/backend/kube"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// manager is the field manager of what Touchdown applies for the site.
const manager = "touchdown-manifests"

// How long a definition takes until its kind is served, and an object until it is gone, at most. A definition is served after about a
// second (k8s.io/apiextensions-apiserver, pkg/controller/establish); what has a finalizer waits for its operator. Chosen.
const (
	servedLimit = 2 * time.Minute
	goneLimit   = 2 * time.Minute
)

// judgedLimit is how long the API may judge an object by a definition that was just replaced. It takes the new one from its own watch, in
// milliseconds; one that is busy needs a second or two. Chosen: a mistake in an object is told as much later.
const judgedLimit = 10 * time.Second

// Object is one object that the cluster is to have. Tree is all of it, and may be secret.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	Tree                              map[string]any
}

// String names the object for people: "Deployment multicluster/agent".
func (o Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// marked is the object with the annotation that says who brought it. An object without any field, such as most namespaces, has no
// field manager otherwise, and its undo would not know it again.
func (o Object) marked() map[string]any {
	tree, meta, notes := maps.Clone(o.Tree), map[string]any{}, map[string]any{}
	if have, ok := o.Tree["metadata"].(map[string]any); ok {
		meta = maps.Clone(have)
	}
	if have, ok := meta["annotations"].(map[string]any); ok {
		notes = maps.Clone(have)
	}
	notes["touchdown.dev/applied"] = "spec.manifests"
	meta["annotations"], tree["metadata"] = notes, meta
	if o.Kind == "Secret" && o.APIVersion == "v1" {
		encode(tree)
	}
	return tree
}

// encode moves the stringData of a Secret into its data, as the API does: but it remembers who set stringData, so that an undo would
// leave the data in a Secret that was there before.
func encode(secret map[string]any) {
	plain, ok := secret["stringData"].(map[string]any)
	if !ok {
		return
	}
	data := map[string]any{}
	if have, ok := secret["data"].(map[string]any); ok {
		data = maps.Clone(have)
	}
	for key, value := range plain {
		text, ok := value.(string)
		if !ok {
			return // the API says what is wrong with it
		}
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}
	secret["data"] = data
	delete(secret, "stringData")
}

// group is the API group, "" for the core's.
func (o Object) group() string {
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		return ""
	}
	return group
}

// defines tells whether the object makes the API serve the kind of another.
func (o Object) defines(other Object) bool {
	if !o.definesKinds() {
		return false
	}
	spec, _ := o.Tree["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	return spec["group"] == other.group() && names["kind"] == other.Kind
}

func (o Object) definesKinds() bool {
	return o.Kind == "CustomResourceDefinition" && o.group() == "apiextensions.k8s.io"
}

// holds tells whether the object is the namespace of another.
func (o Object) holds(other Object) bool {
	return o.Kind == "Namespace" && o.APIVersion == "v1" && o.Name == other.Namespace
}

// earlier tells whether one of the objects has a relation to another.
func earlier(objects []Object, other Object, is func(Object, Object) bool) bool {
	for _, o := range objects {
		if is(o, other) {
			return true
		}
	}
	return false
}

// find is where the API has the object; nil when its kind is not served. An object that is in a namespace where it should not be, or is
// in none, is a Problem.
func (o Object) find(ctx context.Context, c *kube.Cluster) (*at, error) {
	name, namespaced, err := resource(ctx, c, o.APIVersion, o.Kind)
	if err != nil || name == "" {
		return nil, err
	}
	switch {
	case namespaced && o.Namespace == "":
		return nil, &problem.Problem{Code: "MNF-SPCE", Correct: true, Summary: message.F("%s has no namespace, and needs one.", o), Fix: message.T("Write its metadata.namespace in spec.manifests.")}
	case !namespaced && o.Namespace != "":
		return nil, &problem.Problem{Code: "MNF-SPCE", Correct: true, Summary: message.F("%s has a namespace, and objects of its kind have none.", o), Fix: message.T("Remove its metadata.namespace in spec.manifests.")}
	}
	to := place(o, name)
	return &to, nil
}

// Try has the API judge all objects, and changes nothing. What depends on an object before it, a kind or a namespace that is not there
// yet, cannot be judged, nor what a webhook has to see that takes no dry run: it returns these.
func Try(ctx context.Context, c *kube.Cluster, objects []Object) (unjudged []Object, err error) {
	var renewed []Object // definitions that are there and will be others: what is new in them no object may have yet
	for i, o := range objects {
		to, err := o.find(ctx, c)
		if err != nil {
			return nil, err
		}
		if to == nil {
			if !earlier(objects[:i], o, Object.defines) {
				return nil, unserved(o)
			}
			unjudged = append(unjudged, o)
			continue
		}
		is, err := answer(ctx, c, *to, o.marked(), true)
		if apierrors.IsNotFound(err) && earlier(objects[:i], o, Object.holds) || mute(err) || judged(err) && earlier(renewed, o, Object.defines) {
			unjudged = append(unjudged, o)
			continue
		}
		if err != nil {
			return nil, refused(ctx, o, err)
		}
		if o.definesKinds() {
			other, err := renews(ctx, c, *to, is)
			if err != nil {
				return nil, err
			}
			if other {
				renewed = append(renewed, o)
			}
		}
	}
	return unjudged, nil
}

// renews tells whether an object that is there has another spec in the answer to a trial.
func renews(ctx context.Context, c *kube.Cluster, to at, answer []byte) (bool, error) {
	have, err := c.Get(ctx, to.Ref)
	if err != nil || have == nil {
		return false, err
	}
	would := tree(decoded(string(answer)))
	return !reflect.DeepEqual(plainly(have["spec"]), would["spec"]), nil
}

func unserved(o Object) error {
	return &problem.Problem{
		Code: "MNF-KND", Correct: true, Summary: message.F("This cluster does not know the kind of %s (%s).", o, o.APIVersion),
		Fix: message.T("Write its CustomResourceDefinition before it in spec.manifests, or remove it."),
	}
}

// refused explains why the API does not take an object. Of a Secret the API's words are left out: they can repeat what is in it.
func refused(ctx context.Context, o Object, err error) error {
	if ctx.Err() != nil || problem.From(err).Code != "ERR-UNKN" {
		return err
	}
	if fields := held(err); fields != nil {
		return &problem.Problem{
			Code: "MNF-HELD", Correct: true, Summary: message.F("%s is in the cluster with other values, which belong to someone else.", o),
			Fix: message.T("Remove these fields from spec.manifests; the details name them and who has them."), Err: fmt.Errorf("%s", strings.Join(fields, "; ")),
		}
	}
	p := &problem.Problem{
		Code: "MNF-DENY", Correct: true, Summary: message.F("The cluster does not take %s.", o),
		Fix: message.T("Correct it in spec.manifests; kubectl apply --server-side --dry-run=server shows the same."), Err: err,
	}
	if o.Kind == "Secret" {
		p.Err = fmt.Errorf("the API's answer is left out, since it can hold parts of the Secret")
	}
	return p
}
