package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// group is an API group in one version, and the client that asks for its objects. The typed clients of client-go would do the same,
// but with them the types of every API group come into the program, in JSON and in protobuf: a sixth of its size.
type group struct {
	client rest.Interface
	path   string // "/apis/config.openshift.io/v1"
}

// restClient is the one client of all groups. It is configured as the dynamic one, which knows no types either.
func restClient(config *rest.Config, client *http.Client) (*rest.RESTClient, error) {
	untyped := dynamic.ConfigFor(config)
	untyped.APIPath, untyped.GroupVersion = "/api", &schema.GroupVersion{Version: "v1"}
	return rest.RESTClientForConfigAndClient(untyped, client)
}

// objects are those of one kind, of a namespace or, without one, of all. T is one of them, L their list.
type objects[T, L any] struct {
	group
	resource  string // plural: "secrets"
	namespace string
}

// Get reads one object.
func (o objects[T, L]) Get(ctx context.Context, name string, opts metav1.GetOptions) (*T, error) {
	return decoded[T](o.at(o.client.Get(), &opts).Name(name).Do(ctx))
}

// List reads the objects that opts choose, in one answer.
func (o objects[T, L]) List(ctx context.Context, opts metav1.ListOptions) (*L, error) {
	return decoded[L](o.at(o.client.Get(), &opts).Do(ctx))
}

// Patch changes an object, or a part that has an address of its own: "status".
func (o objects[T, L]) Patch(ctx context.Context, name string, how types.PatchType, patch []byte, opts metav1.PatchOptions, part ...string) (*T, error) {
	return decoded[T](o.at(o.client.Patch(how), &opts).Name(name).SubResource(part...).Body(patch).Do(ctx))
}

func (o objects[T, L]) at(r *rest.Request, opts runtime.Object) *rest.Request {
	return r.AbsPath(o.path).NamespaceIfScoped(o.namespace, o.namespace != "").Resource(o.resource).VersionedParams(opts, metav1.ParameterCodec)
}

// send writes what has a kind: a whole object, or a question that is asked by writing it.
func send[T any](ctx context.Context, r *rest.Request, what *T) (*T, error) {
	body, err := json.Marshal(what)
	if err != nil {
		return nil, fmt.Errorf("encoding for the API: %w", err)
	}
	return decoded[T](r.SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx))
}

func decoded[T any](r rest.Result) (*T, error) {
	if err := r.Error(); err != nil {
		return nil, err
	}
	body, err := r.Raw()
	if err != nil {
		return nil, err
	}
	object := new(T)
	if err := kjson.Unmarshal(body, object); err != nil {
		return nil, fmt.Errorf("decoding the API's answer: %w", err)
	}
	return object, nil
}
