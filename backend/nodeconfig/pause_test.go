package nodeconfig_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"touchdown/backend/nodeconfig"
	"touchdown/backend/problem"
)

// A pool that its owner has paused is never unpaused, and nothing that needs it is written. What does not need it is done.
func TestAPoolPausedByItsOwner(t *testing.T) {
	o, c := newOperator(t)
	pause := func() { o.api.Put(pool, strings.Replace(o.api.Get(pool), `"paused":false`, `"paused":true`, 1)) }
	pause()
	cas := nodeconfig.Want{RegistryCAs: []nodeconfig.RegistryCA{{Host: "reg.site.example", PEM: pemText(t, "registry")}}}
	all, err := nodeconfig.Changes(t.Context(), c, site())
	if err != nil {
		t.Fatal(err)
	}
	free, err := nodeconfig.Changes(t.Context(), c, cas)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if code(err) != "NCF-HELD" || o.api.Get(pool, "spec", "paused") != "true" {
			t.Errorf("%s: err is %v, paused %s", what, err, o.api.Get(pool, "spec", "paused"))
		}
	}
	o.api.Changes()
	refused("before it begins", batch(c, false).Run(t.Context(), append(all, free...)))
	refused("undo", batch(c, false).Undo(t.Context(), "rendered-0", func(context.Context) (bool, error) {
		t.Error("put back all the same")
		return true, nil
	}))
	if changes := o.api.Changes(); len(changes) > 0 {
		t.Errorf("something was written: %v", changes)
	}
	for _, changes := range [][]nodeconfig.Change{nil, free} {
		if err := batch(c, false).Run(t.Context(), changes); err != nil {
			t.Errorf("what needs no new configuration: %v", err)
		}
	}
	if got := o.api.Get("/api/v1/namespaces/openshift-config/configmaps/factory-cas", "data"); !strings.Contains(got, "reg.site.example") {
		t.Errorf("the authority is missing: %s", got)
	}
	// Once the node has all, a pause does not matter.
	o.api.Put(pool, strings.Replace(o.api.Get(pool), `"paused":true`, `"paused":false`, 1))
	if err := batch(c, false).Run(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if all, err = nodeconfig.Changes(t.Context(), c, site()); err != nil {
		t.Fatal(err)
	}
	pause()
	if err := batch(c, false).Run(t.Context(), all); err != nil || o.api.Get(pool, "spec", "paused") != "true" {
		t.Errorf("a node that has all: err is %v, paused %s", err, o.api.Get(pool, "spec", "paused"))
	}
}

// Where nothing would render a new configuration, it is said before anything is written.
func TestAMachineConfigOperatorThatDoesNotRun(t *testing.T) {
	for _, name := range []string{"machine-config-operator", "machine-config-controller"} {
		o, c := newOperator(t)
		o.api.Put("/apis/apps/v1/namespaces/openshift-machine-config-operator/deployments/"+name, `{"spec":{"replicas":0}}`)
		changes, err := nodeconfig.Changes(t.Context(), c, site())
		if err != nil {
			t.Fatal(err)
		}
		o.api.Changes()
		err = batch(c, false).Run(t.Context(), changes)
		if code(err) != "NCF-REST" || !strings.Contains(err.Error(), name+" has 0 replicas") || len(o.api.Changes()) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		if err := batch(c, false).Run(t.Context(), nil); err != nil {
			t.Errorf("%s: what needs no new configuration: %v", name, err)
		}
	}
}

// A node whose operating system the cluster builds takes a new configuration only with another build: that is said before anything is
// written. One that is built for other machines is no matter.
func TestANodeWhoseSystemTheClusterBuilds(t *testing.T) {
	for built, want := range map[string]string{"master": "NCF-BLD", "worker": ""} {
		o, c := newOperator(t)
		o.api.Put("/apis/machineconfiguration.openshift.io/v1/machineosconfigs/layers", `{"metadata":{"name":"layers"},"spec":{
			"machineConfigPool":{"name":"`+built+`"},"imageBuilder":{"imageBuilderType":"Job"},"renderedImagePushSpec":"registry.plant.example/os:latest"}}`)
		changes, err := nodeconfig.Changes(t.Context(), c, site())
		if err != nil {
			t.Fatal(err)
		}
		o.api.Changes()
		err = batch(c, false).Run(t.Context(), changes)
		if want == "" && err != nil || want != "" && (code(err) != want || !strings.Contains(err.Error(), "MachineOSConfig layers") || len(o.api.Changes()) > 0) {
			t.Errorf("built for %s: %v", built, err)
		}
	}
}

// What the operator could not render before the work is told before anything is written. Once the work has written, the reason may be
// its own, and correcting the values has to get through.
func TestWhatCouldNotBeRenderedBefore(t *testing.T) {
	o, c := newOperator(t)
	render := o.api.After
	o.api.After = nil
	healthy := o.api.Get(pool)
	o.api.Put(pool, `{"spec":{"configuration":{"name":"rendered-0"}},"status":{"configuration":{"name":"rendered-0"},
		"conditions":[{"type":"RenderDegraded","status":"True","reason":"Failed","message":"could not parse 99-owner: bad ignition"}]}}`)
	changes, err := nodeconfig.Changes(t.Context(), c, site())
	if err != nil {
		t.Fatal(err)
	}
	o.api.Changes()
	err = batch(c, false).Run(t.Context(), changes)
	if p, ok := errors.AsType[*problem.Problem](err); !ok || p.Code != "NCF-PAST" || !strings.Contains(p.Err.Error(), "99-owner") || len(o.api.Changes()) > 0 {
		t.Errorf("%v", err)
	}
	o.api.After = func(method, path string) { // the operator renders again as soon as something is written
		o.api.Put(pool, strings.Replace(healthy, `"paused":false`, `"paused":true`, 1))
		o.api.After = render
		render(method, path)
	}
	again := batch(c, false)
	again.Pause.Made = true
	if err := again.Run(t.Context(), changes); err != nil {
		t.Errorf("after a write of our own: %v", err)
	}
}

// A pause of ours that someone else has ended meanwhile is noted to be over: else one that the owner begins later would be taken for ours.
func TestAPauseOfOursThatSomeoneElseEnded(t *testing.T) {
	o, c := newOperator(t)
	b := batch(c, true)
	ended := false
	b.Pause.Note = func(paused bool) error { ended = !paused; return nil }
	if err := b.Run(t.Context(), nil); err != nil || !ended || o.api.Get(pool, "spec", "paused") == "true" {
		t.Errorf("noted to be over: %v (%v)", ended, err)
	}
}
