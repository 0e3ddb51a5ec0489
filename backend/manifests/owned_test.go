package manifests

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestOwned: of an object that has more, just what Touchdown applied is kept, in lists too.
func TestOwned(t *testing.T) {
	const object = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b","uid":"u","labels":{"x":"1","y":"2"},
 "managedFields":[
  {"manager":"kubectl","operation":"Apply","apiVersion":"apps/v1","fieldsV1":{"f:spec":{"f:paused":{}}}},
  {"manager":"touchdown-manifests","operation":"Apply","apiVersion":"apps/v1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:x":{}}},
   "f:spec":{"f:replicas":{},"f:gone":{},"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{},"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},
   "f:finalizers":{"v:\"f\"":{}},"f:args":{}}}}]},
 "spec":{"replicas":2,"paused":true,"args":["-v"],"finalizers":["e","f"],
  "containers":[{"name":"d","image":"2"},{"name":"c","image":"1","tty":true,"ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":81,"protocol":"TCP"}]}]},"status":{"replicas":2}}`
	const want = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"b","labels":{"x":"1"}},
 "spec":{"replicas":2,"args":["-v"],"finalizers":["f"],"containers":[{"name":"c","image":"1","ports":[{"containerPort":80}]}]}}`
	var o map[string]any
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		t.Fatal(err)
	}
	if got := plainly(owned(o)); !reflect.DeepEqual(got, decoded(want)) {
		text, _ := json.Marshal(got)
		t.Errorf("%s", text)
	}
	o["metadata"].(map[string]any)["managedFields"] = []any{}
	if got := owned(o); got != nil {
		t.Errorf("of an object of its owner: %v", got)
	}
}
