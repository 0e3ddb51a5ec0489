package nodeconfig_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
	"touchdown/test/wait"
)

const (
	mcs  = "/apis/machineconfiguration.openshift.io/v1/machineconfigs/"
	pool = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/master"
	conf = "/apis/config.openshift.io/v1/"
)

// operator stands in for the Machine Config Operator: it renders what the test tells, and rolls out when the pool is not paused.
type operator struct {
	api  *kubetest.API
	t    *testing.T
	made int
	mute bool // it renders nothing
	log  []string
}

func dataURL(text string) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}

func newOperator(t *testing.T) (*operator, *kube.Cluster) {
	api, c := kubetest.New(t)
	o := &operator{api: api, t: t}
	api.Put(mcs+"50-masters-chrony-configuration", `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"storage":{"files":[
		{"path":"/etc/chrony.conf","contents":{"source":"`+dataURL("pool 0.rhel.pool.ntp.org iburst\ndriftfile /var/lib/chrony/drift\n")+`"}}]}}}}`)
	api.Put(conf+"proxies/cluster", `{"spec":{"trustedCA":{"name":""}}}`)
	api.Put(conf+"images/cluster", `{"spec":{"additionalTrustedCA":{"name":"factory-cas"}}}`)
	api.Put("/api/v1/namespaces/openshift-config/configmaps/factory-cas", `{"data":{"reg.factory.example":"FACTORY"}}`)
	api.Put(conf+"imagedigestmirrorsets/factory", `{"spec":{"imageDigestMirrors":[{"source":"quay.example/a","mirrors":["reg.factory.example/a"]}]}}`)
	api.Put("/api/v1/nodes/n", `{"metadata":{"annotations":{}}}`)
	o.render(true)
	api.After = func(method, path string) {
		o.log = append(o.log, method+" "+path)
		if !o.mute {
			o.render(o.api.Get(pool, "spec", "paused") != "true")
		}
	}
	return o, c
}

// render merges like the real one; the pool's machine follows when roll is set.
func (o *operator) render(roll bool) {
	o.made++
	name := fmt.Sprintf("rendered-%d", o.made)
	var files []any
	var keys []any
	for _, mc := range []string{"50-masters-chrony-configuration", "99-master-touchdown-chrony", "99-master-touchdown-ssh"} {
		var doc struct {
			Config struct {
				Storage struct{ Files []any }
				Passwd  struct {
					Users []struct{ SSHAuthorizedKeys []any }
				}
			}
		}
		if text := o.api.Get(mcs+mc, "spec"); text != "" {
			_ = json.Unmarshal([]byte(text), &doc)
		}
		files = append(files, doc.Config.Storage.Files...)
		for _, u := range doc.Config.Passwd.Users {
			keys = append(keys, u.SSHAuthorizedKeys...)
		}
	}
	registries := ""
	for _, kind := range []string{"imagedigestmirrorsets/factory", "imagedigestmirrorsets/touchdown-site", "imagetagmirrorsets/touchdown-site"} {
		registries += o.api.Get(conf+kind, "spec")
	}
	add := func(path, text string) {
		files = append(files, map[string]any{"path": path, "contents": map[string]any{"source": dataURL(text)}})
	}
	add("/etc/containers/registries.conf", registries)
	add("/etc/mco/proxy.env", proxyEnv(o.api.Get(conf+"proxies/cluster", "spec")))
	var bundle string
	_ = json.Unmarshal([]byte(o.api.Get("/api/v1/namespaces/openshift-config/configmaps/user-ca-bundle", "data", "ca-bundle.crt")), &bundle)
	add("/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt", bundle)
	spec, _ := json.Marshal(map[string]any{"spec": map[string]any{"config": map[string]any{
		"storage": map[string]any{"files": files}, "passwd": map[string]any{"users": []any{map[string]any{"name": "core", "sshAuthorizedKeys": keys}}},
	}}})
	o.api.Put(mcs+name, string(spec))
	at := name
	if !roll {
		at = "rendered-1"
	}
	paused := o.api.Get(pool, "spec", "paused")
	if paused == "" {
		paused = "false"
	}
	o.api.Put(pool, fmt.Sprintf(`{"spec":{"paused":%s,"configuration":{"name":%q}},"status":{"configuration":{"name":%q},"machineCount":1,
		"updatedMachineCount":1,"readyMachineCount":1,"conditions":[{"type":"Updated","status":"True"},{"type":"Updating","status":"False"},{"type":"Degraded","status":"False"}]}}`, paused, name, at))
	o.api.Put("/api/v1/nodes/n", fmt.Sprintf(`{"metadata":{"annotations":{"machineconfiguration.openshift.io/currentConfig":%q,
		"machineconfiguration.openshift.io/desiredConfig":%q,"machineconfiguration.openshift.io/state":"Done"}}}`, at, at))
}

func batch(c *kube.Cluster, marked bool) nodeconfig.Batch {
	return nodeconfig.Batch{
		Cluster: c, Save: func(kube.Ref, []byte) error { return nil },
		Pause:    kube.Pause{Pool: "master", Ours: marked, Note: func(bool) error { return nil }},
		Timeouts: nodeconfig.Timeouts{Render: wait.Timeout(0), Roll: wait.Timeout(0)},
	}
}

func site() nodeconfig.Want {
	return nodeconfig.Want{
		SSHKeys: []string{"ssh-ed25519 AAAA site"}, NTPSources: []string{"198.51.100.123"}, RemoveFactoryMirrors: true,
		DigestMirrors: []nodeconfig.Mirror{{Source: "quay.example/a", Mirrors: []string{"reg.site.example:5000/a"}}},
		TagMirrors:    []nodeconfig.Mirror{{Source: "quay.example/t", Mirrors: []string{"reg.site.example:5000/t"}}},
		Proxy:         nodeconfig.Proxy{HTTP: "http://u:hunter2@proxy.example:3128", NoProxy: []string{"192.168.127.0/24", ".store.example"}},
	}
}

func code(err error) string {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Code
	}
	return ""
}

func TestBatchPausesWritesUnpausesAndIsQuietTheSecondTime(t *testing.T) {
	o, c := newOperator(t)
	changes, err := nodeconfig.Changes(t.Context(), c, site())
	if err != nil {
		t.Fatal(err)
	}
	if err := batch(c, false).Run(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	t.Log(strings.Join(o.log, "\n"))
	first, last := o.log[0], o.log[len(o.log)-1]
	if !strings.HasPrefix(first, "PATCH "+pool) || !strings.HasPrefix(last, "PATCH "+pool) || o.api.Get(pool, "spec", "paused") != "false" {
		t.Errorf("the batch is not between pause and unpause: %s ... %s", first, last)
	}
	added, removed := -1, -1
	for i, call := range o.log {
		if strings.HasPrefix(call, "POST") && strings.Contains(call, "imagedigestmirrorsets") {
			added = i
		}
		if strings.HasPrefix(call, "DELETE") {
			removed = i
		}
	}
	if added < 0 || removed < added {
		t.Errorf("the factory's mirrors go at %d, the site's come at %d", removed, added)
	}
	o.api.Changes()
	again, err := nodeconfig.Changes(t.Context(), c, site())
	if err != nil || len(nodeconfig.Pending(again)) != 0 {
		t.Fatalf("still pending: %+v (%v)", nodeconfig.Pending(again), err)
	}
	if err := batch(c, true).Run(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if calls := o.api.Changes(); len(calls) != 0 {
		t.Errorf("the second run changes: %v", calls)
	}
}

func TestChangesKeepWhatIsThere(t *testing.T) {
	o, c := newOperator(t)
	w := site()
	w.RegistryCAs = []nodeconfig.RegistryCA{{Host: "reg.site.example", Port: 5000, PEM: pemText(t, "site")}, {Host: "reg.factory.example", PEM: pemText(t, "new")}}
	w.Trust = []string{pemText(t, "one") + pemText(t, "two"), pemText(t, "one")}
	changes, err := nodeconfig.Changes(t.Context(), c, w)
	if err != nil {
		t.Fatal(err)
	}
	for _, ch := range changes {
		if strings.Contains(ch.Old.String()+ch.New.String(), "hunter2") {
			t.Errorf("the review shows a password: %s", ch.New)
		}
	}
	if err := batch(c, false).Run(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	chrony := o.api.Get(mcs+"99-master-touchdown-chrony", "spec", "config", "storage", "files")
	var files []struct {
		Contents struct{ Source string }
	}
	_ = json.Unmarshal([]byte(chrony), &files)
	text, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(files[0].Contents.Source, "data:text/plain;charset=utf-8;base64,"))
	if want := "pool 0.rhel.pool.ntp.org iburst\ndriftfile /var/lib/chrony/drift\nserver 198.51.100.123 iburst\n"; string(text) != want {
		t.Errorf("chrony.conf is %q", text)
	}
	cas := o.api.Get("/api/v1/namespaces/openshift-config/configmaps/factory-cas", "data")
	if strings.Count(cas, `"reg.factory.example..443"`) != 1 || strings.Contains(cas, `"reg.site.example"`) || !strings.Contains(cas, `"reg.site.example..5000"`) || !strings.Contains(cas, "FACTORY\\n-----BEGIN") {
		t.Errorf("the registries' authorities are %s", cas)
	}
	if bundle := o.api.Get("/api/v1/namespaces/openshift-config/configmaps/user-ca-bundle", "data", "ca-bundle.crt"); strings.Count(bundle, "BEGIN") != 2 {
		t.Errorf("the bundle has not each certificate once: %s", bundle)
	}
	if o.api.Get(conf+"proxies/cluster", "spec", "trustedCA", "name") != `"user-ca-bundle"` {
		t.Error("the proxy does not name the bundle")
	}
}

func TestNoWayLeavesThePoolPaused(t *testing.T) {
	for what, fail := range map[string]func(*operator){
		"a refused write": func(o *operator) {
			o.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				return r.Method == http.MethodPost && strings.Contains(r.URL.Path, "imagetagmirrorsets") && kubetest.Refuse(w, 403, "Forbidden", "no")
			}
		},
		"an operator that renders nothing": func(o *operator) { o.mute = true },
	} {
		o, c := newOperator(t)
		changes, err := nodeconfig.Changes(t.Context(), c, site())
		if err != nil {
			t.Fatal(err)
		}
		fail(o)
		b := batch(c, false)
		b.Timeouts.Render = 300 * time.Millisecond // of one that renders nothing
		if err := b.Run(t.Context(), changes); err == nil {
			t.Errorf("%s: no error", what)
		}
		if o.api.Get(pool, "spec", "paused") != "false" {
			t.Errorf("%s leaves the pool paused", what)
		}
	}
	// A person stops the work between two writes.
	o, c := newOperator(t)
	changes, err := nodeconfig.Changes(t.Context(), c, site())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	o.api.After = func(string, string) {
		if len(o.log) == 2 {
			stop()
		}
		o.log = append(o.log, "")
	}
	if err := batch(c, false).Run(ctx, changes); !errors.Is(err, context.Canceled) || o.api.Get(pool, "spec", "paused") != "false" {
		t.Errorf("err is %v, paused %s", err, o.api.Get(pool, "spec", "paused"))
	}
}

// A power cut at any write: the next Run unpauses and ends where an undisturbed one does.
func TestRunGoesOnAfterACutAtEachWrite(t *testing.T) {
	for cut := 1; cut < 9; cut++ {
		o, c := newOperator(t)
		changes, err := nodeconfig.Changes(t.Context(), c, site())
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		dead := errors.New("cut")
		func() {
			defer func() { _ = recover() }()
			for i := range changes {
				write := changes[i].Write
				changes[i].Write = func(ctx context.Context, c *kube.Cluster, save kube.Save) (bool, error) {
					if n++; n >= cut {
						panic(dead) // no clean-up runs, as after a cut
					}
					return write(ctx, c, save)
				}
			}
			_ = batch(c, false).Run(t.Context(), changes)
		}()
		changes, err = nodeconfig.Changes(t.Context(), c, site())
		if err != nil {
			t.Fatal(err)
		}
		if err := batch(c, true).Run(t.Context(), changes); err != nil {
			t.Errorf("cut at write %d: %v", cut, err)
		}
		left, _ := nodeconfig.Changes(t.Context(), c, site())
		if o.api.Get(pool, "spec", "paused") != "false" || len(nodeconfig.Pending(left)) != 0 {
			t.Errorf("cut at write %d: paused %s, pending %d", cut, o.api.Get(pool, "spec", "paused"), len(nodeconfig.Pending(left)))
		}
	}
}

func TestAnOwnerOfALaterNameIsToldOf(t *testing.T) {
	o, c := newOperator(t)
	o.api.Put(mcs+"99-zz-chrony", `{"metadata":{"labels":{"machineconfiguration.openshift.io/role":"master"}},"spec":{"config":{"storage":{"files":[{"path":"/etc/chrony.conf","contents":{"source":"data:,x"}}]}}}}`)
	if _, err := nodeconfig.Changes(t.Context(), c, site()); code(err) != "NTP-HELD" {
		t.Errorf("err is %v", err)
	}
}

func TestOlderClustersGetWhatTheyKnow(t *testing.T) {
	o, c := newOperator(t)
	o.api.Drop(conf + "imagedigestmirrorsets/factory")
	o.api.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		return strings.Contains(r.URL.Path, "mirrorsets") && kubetest.Refuse(w, 404, "NotFound", "no such kind")
	}
	w := nodeconfig.Want{DigestMirrors: site().DigestMirrors}
	changes, err := nodeconfig.Changes(t.Context(), c, w)
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	if _, err := changes[0].Write(t.Context(), c, func(kube.Ref, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := o.api.Get("/apis/operator.openshift.io/v1alpha1/imagecontentsourcepolicies/touchdown-site", "spec", "repositoryDigestMirrors"); !strings.Contains(got, "reg.site.example") {
		t.Errorf("the policy is %s", got)
	}
	w.TagMirrors = site().TagMirrors
	if _, err := nodeconfig.Changes(t.Context(), c, w); code(err) != "MRR-LACK" {
		t.Errorf("err is %v", err)
	}
}

// TestAPolicyOfAnotherIsNotContradicted: the Machine Config Operator refuses all mirrors where two objects have a source with two policies.
func TestAPolicyOfAnotherIsNotContradicted(t *testing.T) {
	_, c := newOperator(t)
	of := func(policy string) nodeconfig.Want {
		return nodeconfig.Want{TagMirrors: []nodeconfig.Mirror{{Source: "quay.example/a", Mirrors: []string{"reg.site.example/a"}, Policy: policy}}}
	}
	for _, policy := range []string{"", "AllowContactingSource"} {
		if changes, err := nodeconfig.Changes(t.Context(), c, of(policy)); err != nil || len(changes) != 1 {
			t.Errorf("%q: %v, %v", policy, changes, err)
		}
	}
	w := of("NeverContactSource")
	if _, err := nodeconfig.Changes(t.Context(), c, w); code(err) != "MRR-PLCY" {
		t.Errorf("err is %v", err)
	}
	w.RemoveFactoryMirrors = true
	if changes, err := nodeconfig.Changes(t.Context(), c, w); err != nil || len(changes) != 2 {
		t.Errorf("%v, %v", changes, err)
	}
}

func TestReboots(t *testing.T) {
	o, c := newOperator(t)
	w := site()
	w.Trust = []string{pemText(t, "one")} // takes a restart of CRI-O and no reboot, with policies and without
	changes, err := nodeconfig.Changes(t.Context(), c, w)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(changes, func(ch nodeconfig.Change) bool { return ch.What.String() == "Trusted authorities" && ch.Pending }) {
		t.Error("the trust bundle is not among the changes")
	}
	reboots := func() string {
		got, err := nodeconfig.Reboots(t.Context(), c, changes)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, ch := range got {
			if ch.Login {
				ch.File = "SSH keys"
			}
			names = append(names, ch.File)
		}
		return strings.Join(slices.Compact(names), " ")
	}
	if got := reboots(); got != "/etc/chrony.conf /etc/mco/proxy.env" {
		t.Errorf("without policies it reboots for %q", got)
	}
	const mirrored, anchor = "/etc/containers/registries.conf", "/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt"
	for name, c := range map[string]struct{ files, more, want string }{
		"no reboot":                  {`{"path":"/etc","actions":[{"type":"None"}]}`, proxyUnits, ""},
		"a closer path wins":         {`{"path":"/etc","actions":[{"type":"None"}]},{"path":"/etc/containers","actions":[{"type":"Reboot"}]}`, proxyUnits, mirrored},
		"and may need no reboot":     {`{"path":"/etc","actions":[{"type":"Reboot"}]},{"path":"/etc/containers/","actions":[{"type":"None"}]}`, proxyUnits, "/etc/chrony.conf " + anchor + " /etc/mco/proxy.env"},
		"a file without policy":      {`{"path":"/etc/containers","actions":[{"type":"None"}]},{"path":"/etc/mco","actions":[{"type":"None"}]}`, proxyUnits, "/etc/chrony.conf " + anchor},
		"the first proxy has units":  {`{"path":"/etc","actions":[{"type":"None"}]}`, `"units":[{"name":"crio.service","actions":[{"type":"None"}]}]`, "/etc/mco/proxy.env"},
		"the user core's keys count": {`{"path":"/etc","actions":[{"type":"None"}]}`, proxyUnits + `,"sshkey":{"actions":[{"type":"Reboot"}]}`, "SSH keys"},
	} {
		o.api.Put("/apis/operator.openshift.io/v1/machineconfigurations/cluster",
			`{"status":{"nodeDisruptionPolicyStatus":{"clusterPolicies":{"files":[`+c.files+`],`+c.more+`}}}}`)
		if got := reboots(); got != c.want {
			t.Errorf("%s: it reboots for %q, want %q", name, got, c.want)
		}
	}
}

// proxyUnits are policies for the units that get a drop-in with the first proxy.
const proxyUnits = `"units":[{"name":"crio.service","actions":[{"type":"None"}]},{"name":"kubelet.service","actions":[{"type":"None"}]},
	{"name":"rpm-ostreed.service","actions":[{"type":"None"}]}]`

func TestUndoIsOneBatchToo(t *testing.T) {
	o, c := newOperator(t)
	b := batch(c, true)
	b.Timeouts.Render = 50 * time.Millisecond
	err := b.Undo(t.Context(), "rendered-0", func(ctx context.Context) (bool, error) {
		if o.api.Get(pool, "spec", "paused") != "true" {
			t.Error("the pool is not paused while things are put back")
		}
		return true, nil
	})
	if err != nil || o.api.Get(pool, "spec", "paused") != "false" {
		t.Errorf("err is %v, paused %s", err, o.api.Get(pool, "spec", "paused"))
	}
	err = b.Undo(t.Context(), "", func(context.Context) (bool, error) { return false, errors.New("no") })
	if err == nil || o.api.Get(pool, "spec", "paused") != "false" {
		t.Errorf("a failed undo: err is %v, paused %s", err, o.api.Get(pool, "spec", "paused"))
	}
}
