package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

const server = "/apis/config.openshift.io/v1/apiservers/cluster"

// keeper is a kube.Save that remembers.
type keeper struct{ saved [][]byte }

func (k *keeper) save(_ kube.Ref, b []byte) error {
	k.saved = append(k.saved, b)
	return nil
}

// add puts an entry into the list of named certificates.
func add(name string) func(map[string]any) error {
	return func(spec map[string]any) error {
		certs, _ := spec["certs"].([]any)
		spec["certs"] = append(certs, map[string]any{"name": name, "n": 1})
		return nil
	}
}

func TestChangeAndRestoreToTheByte(t *testing.T) {
	for name, object := range map[string]string{
		"full":        `{"spec":{"certs":[{"name":"theirs","n":7}],"newer":{"x":null,"y":[1,2.5]},"big":9007199254740993}}`,
		"no list":     `{"spec":{"other":true}}`,
		"empty spec":  `{"spec":{}}`,
		"no spec":     `{}`,
		"an odd null": `{"spec":{"certs":null,"other":{"a":null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			api, c := kubetest.New(t)
			api.Put(server, object)
			before := api.Get(server, "spec")
			var k keeper
			changed, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), add("ours"), k.save)
			if err != nil || !changed || len(k.saved) != 1 {
				t.Fatal(changed, err, len(k.saved))
			}
			if now := api.Get(server, "spec", "certs"); !strings.Contains(now, "ours") {
				t.Error(now)
			}
			for range 2 { // undo is safe to repeat
				if _, err := c.Restore(t.Context(), k.saved[0]); err != nil {
					t.Fatal(err)
				}
				if now := api.Get(server, "spec"); now != before {
					t.Errorf("was %s, is %s", before, now)
				}
			}
			if n := c.Writes(); n != 2 {
				t.Errorf("%d writes", n)
			}
		})
	}
}

func TestChangeNothing(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{"a":1}}`)
	changed, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), func(spec map[string]any) error {
		spec["a"] = 1
		return nil
	}, func(kube.Ref, []byte) error { return errors.New("nothing to save") })
	if changed || err != nil || len(api.Changes()) > 0 {
		t.Error(changed, err)
	}
}

func TestRestoreLeavesWhatOthersDid(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{"certs":[{"name":"theirs","n":7}],"a":1,"gone":1}}`)
	var k keeper
	change := func(spec map[string]any) error {
		spec["a"], spec["b"] = 2, map[string]any{"c": 1}
		delete(spec, "gone")
		return add("ours")(spec)
	}
	if _, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), change, k.save); err != nil {
		t.Fatal(err)
	}
	others := func(spec map[string]any) error {
		spec["theirs"] = true
		spec["b"].(map[string]any)["d"] = 2
		spec["certs"].([]any)[0].(map[string]any)["n"] = 8
		return add("late")(spec)
	}
	var ignored keeper
	if _, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), others, ignored.save); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Restore(t.Context(), k.saved[0]); err != nil {
		t.Fatal(err)
	}
	want := `{"a":1,"b":{"d":2},"certs":[{"n":8,"name":"theirs"},{"n":1,"name":"late"}],"gone":1,"theirs":true}`
	if now := api.Get(server, "spec"); now != want {
		t.Errorf("want %s\n got %s", want, now)
	}
}

// An entry without a name that we changed is put back where it was, although someone added another one since: in the list of named
// certificates the place counts.
func TestRestoreKeepsThePlaceOfAnEntry(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{"certs":[{"names":["a","b"]},{"names":["c"]}]}}`)
	var k, ignored keeper
	list := func(certs ...any) func(map[string]any) error {
		return func(spec map[string]any) error {
			spec["certs"] = certs
			return nil
		}
	}
	entry := func(names ...any) any { return map[string]any{"names": names} }
	if _, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), list(entry("b"), entry("c"), entry("a")), k.save); err != nil {
		t.Fatal(err)
	}
	late := list(entry("b"), entry("c"), entry("a"), entry("late"))
	if _, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), late, ignored.save); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Restore(t.Context(), k.saved[0]); err != nil {
		t.Fatal(err)
	}
	want := `{"certs":[{"names":["a","b"]},{"names":["c"]},{"names":["late"]}]}`
	if now := api.Get(server, "spec"); now != want {
		t.Errorf("want %s\n got %s", want, now)
	}
}

func TestChangeGoesOnAfterAConflict(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{"certs":[]}}`)
	var once atomic.Bool
	api.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch && once.CompareAndSwap(false, true) {
			api.Put(server, `{"spec":{"certs":[{"name":"fast","n":1}]}}`)
		}
		return false
	}
	var k keeper
	if _, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), add("ours"), k.save); err != nil {
		t.Fatal(err)
	}
	if now := api.Get(server, "spec", "certs"); !strings.Contains(now, "fast") || !strings.Contains(now, "ours") {
		t.Error(now)
	}
	if len(k.saved) != 2 {
		t.Errorf("saved %d times", len(k.saved))
	}
	for i := len(k.saved) - 1; i >= 0; i-- {
		if _, err := c.Restore(t.Context(), k.saved[i]); err != nil {
			t.Fatal(err)
		}
	}
	if now := api.Get(server, "spec", "certs"); now != `[{"n":1,"name":"fast"}]` {
		t.Error(now)
	}
}

func TestChangeTellsAFieldThatWasLost(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{}}`)
	api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"spec":{},"metadata":{"name":"cluster","resourceVersion":"9"},"apiVersion":"v1","kind":"X"}`))
			return true
		}
		return false
	}
	_, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), add("ours"), (&keeper{}).save)
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "CLU-LACK" {
		t.Error(err)
	}
}

func TestPutAndRestoreSecret(t *testing.T) {
	const path = "/api/v1/namespaces/ns/secrets/s"
	api, c := kubetest.New(t)
	want := func(value string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}, Type: "Opaque", Data: map[string][]byte{"k": []byte(value)},
		}
	}
	var k keeper
	for _, value := range []string{"one", "one", "two"} {
		if _, err := c.PutSecret(t.Context(), want(value), k.save); err != nil {
			t.Fatal(err)
		}
	}
	if api.Get(path, "data", "k") != `"dHdv"` || len(k.saved) != 2 {
		t.Error(api.Get(path), len(k.saved))
	}
	for i := len(k.saved) - 1; i >= 0; i-- {
		if _, err := c.Restore(t.Context(), k.saved[i]); err != nil {
			t.Fatal(err)
		}
	}
	if api.Get(path) != "" {
		t.Error("still there")
	}
	if _, err := c.PutSecret(t.Context(), want("one"), k.save); err != nil {
		t.Fatal(err)
	}
	api.Put(path, `{"type":"Opaque","data":{"k":"dGhlaXJz"}}`) // changed under our hands
	if changed, err := c.Restore(t.Context(), k.saved[0]); changed || err != nil || api.Get(path) == "" {
		t.Error("what others changed was taken away", changed, err)
	}
	bad := want("one")
	bad.Type = corev1.SecretTypeTLS
	if _, err := c.PutSecret(t.Context(), bad, k.save); problem.From(err).Code != "CLU-TYPE" {
		t.Error(err)
	}
}

func TestDeleteRecreateRestore(t *testing.T) {
	const path = "/apis/route.openshift.io/v1/namespaces/ns/routes/r"
	api, c := kubetest.New(t)
	api.Put(path, `{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"labels":{"a":"b"}},"spec":{"host":"old","to":{"name":"x"}},"status":{"s":1}}`)
	before := api.Get(path, "spec")
	var k keeper
	if deleted, err := c.Delete(t.Context(), kube.Route("ns", "r"), k.save); !deleted || err != nil {
		t.Fatal(deleted, err)
	}
	err := c.Recreate(t.Context(), k.saved[0], func(o map[string]any) { delete(o["spec"].(map[string]any), "host") })
	if err != nil || api.Get(path, "spec") != `{"to":{"name":"x"}}` || api.Get(path, "status") != "" {
		t.Fatal(err, api.Get(path))
	}
	if _, err := c.Restore(t.Context(), k.saved[0]); err != nil || api.Get(path, "spec") != before {
		t.Error(err, api.Get(path))
	}
	api.Drop(path)
	if _, err := c.Restore(t.Context(), k.saved[0]); err != nil || api.Get(path, "spec") != before || api.Get(path, "metadata", "labels") != `{"a":"b"}` {
		t.Error(err, api.Get(path))
	}
}

func TestRetry(t *testing.T) {
	get := func(t *testing.T, limit time.Duration, fault func(n int64, w http.ResponseWriter) bool) (int64, []kube.Progress, error) {
		t.Helper()
		api, c := kubetest.New(t)
		api.Put(server, `{"apiVersion":"config.openshift.io/v1","kind":"APIServer","spec":{}}`)
		c.Pace.Limit = limit
		var n atomic.Int64
		api.Fault = func(w http.ResponseWriter, _ *http.Request) bool { return fault(n.Add(1), w) }
		var told []kube.Progress
		c = c.WithProgress(func(p kube.Progress) { told = append(told, p) })
		err := c.Do(t.Context(), "reading", func(ctx context.Context) error {
			_, err := c.Config.APIServers().Get(ctx, "cluster", metav1.GetOptions{})
			return err
		})
		return n.Load(), told, err
	}
	t.Run("503 goes by", func(t *testing.T) {
		n, told, err := get(t, wait.Timeout(0), func(n int64, w http.ResponseWriter) bool {
			return n < 4 && kubetest.Refuse(w, 503, "ServiceUnavailable", "starting")
		})
		if err != nil || n != 4 || len(told) != 3 {
			t.Error(err, n, told)
		}
	})
	t.Run("cut connections go by", func(t *testing.T) {
		_, _, err := get(t, wait.Timeout(0), func(n int64, _ http.ResponseWriter) bool {
			if n < 8 {
				panic(http.ErrAbortHandler)
			}
			return false
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("429 for ever", func(t *testing.T) {
		_, _, err := get(t, time.Second, func(_ int64, w http.ResponseWriter) bool { return kubetest.Refuse(w, 429, "TooManyRequests", "busy") })
		if problem.From(err).Code != "CLU-BUSY" {
			t.Error(err)
		}
	})
	t.Run("500 for ever", func(t *testing.T) {
		_, told, err := get(t, time.Second, func(_ int64, w http.ResponseWriter) bool { return kubetest.Refuse(w, 500, "InternalError", "etcd") })
		if problem.From(err).Code != "CLU-AWAY" || len(told) == 0 {
			t.Error(err, told)
		}
	})
	for _, text := range []string{"not yet ready to handle request", "caches not synchronized"} {
		t.Run("403 of a server that just started: "+text, func(t *testing.T) {
			n, told, err := get(t, wait.Timeout(0), func(n int64, w http.ResponseWriter) bool {
				return n < 4 && kubetest.Refuse(w, 403, "Forbidden", `secrets "router-certs" is forbidden: `+text)
			})
			if err != nil || n != 4 || len(told) != 3 {
				t.Error(err, n, told)
			}
		})
	}
	t.Run("403 at once", func(t *testing.T) {
		n, _, err := get(t, wait.Timeout(0), func(_ int64, w http.ResponseWriter) bool {
			return kubetest.Refuse(w, 403, "Forbidden", `apiservers "cluster" is forbidden: User "x" cannot get resource "apiservers" in API group "config.openshift.io"`)
		})
		p := problem.From(err)
		if p.Code != "CLU-DENY" || n != 1 || !strings.Contains(p.Summary.String(), "get apiservers") {
			t.Error(err, n)
		}
	})
	t.Run("401 at once", func(t *testing.T) {
		n, _, err := get(t, wait.Timeout(0), func(_ int64, w http.ResponseWriter) bool { return kubetest.Refuse(w, 401, "Unauthorized", "who") })
		if problem.From(err).Code != "CLU-AUTH" || n != 1 {
			t.Error(err, n)
		}
	})
}

func TestNobodyThere(t *testing.T) {
	api, c := kubetest.New(t)
	_ = api
	c.Pace.Limit = 300 * time.Millisecond
	api.Fault = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	begin := time.Now()
	_, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), add("x"), (&keeper{}).save)
	if problem.From(err).Code != "CLU-AWAY" || time.Since(begin) > time.Minute {
		t.Error(err, time.Since(begin))
	}
}

func TestSaveFails(t *testing.T) {
	api, c := kubetest.New(t)
	api.Put(server, `{"spec":{}}`)
	full := errors.New("disk full")
	_, err := c.ChangeSpec(t.Context(), kube.Config("apiservers"), add("x"), func(kube.Ref, []byte) error { return full })
	if !errors.Is(err, full) || len(api.Changes()) > 0 {
		t.Error(err)
	}
}

func TestSavedFormat(t *testing.T) {
	_, c := kubetest.New(t)
	for _, b := range []string{"", "{}", `{"format":99}`, "not json"} {
		if _, err := c.Restore(t.Context(), []byte(b)); problem.From(err).Code != "UND-READ" {
			t.Error(b, err)
		}
	}
	b, _ := json.Marshal(map[string]any{"format": 1, "ref": kube.Config("apiservers")})
	if ref, err := kube.SavedRef(b); err != nil || ref != kube.Config("apiservers") {
		t.Error(ref, err)
	}
}
