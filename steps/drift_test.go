package steps_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vincent-petithory/dataurl"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/backend/layout/rhcos"
	"touchdown/steps"
	"touchdown/steps/site"
	"touchdown/test/wait"
)

// TestACutInTheDaemonsWork: the power failed while the Machine Config Daemon wrote the node's pull secret. It compares that with the old
// configuration now, and goes no further; once the file is as before, it takes the new one.
func TestACutInTheDaemonsWork(t *testing.T) {
	const (
		old    = `{"auths":{"registry.factory.example":{"auth":"Zjpm"}}}`
		merged = `{"auths":{"registry.factory.example":{"auth":"Zjpm"},"registry.site.example:5000":{"auth":"dTpw"}}}`
		mine   = "machineconfiguration.openshift.io/"
	)
	api, c := kubetest.New(t)
	m, report := hosttest.New(t), newReport()
	for name, content := range map[string]string{"rendered-master-0": old, "rendered-master-1": merged} {
		api.Put("/apis/machineconfiguration.openshift.io/v1/machineconfigs/"+name, fmt.Sprintf(
			`{"spec":{"config":{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":%q,"mode":384,"contents":{"source":%q}}]}}}}`,
			rhcos.PullSecret, dataurl.EncodeBytes([]byte(content))))
	}
	api.Put("/api/v1/namespaces/openshift-config/secrets/pull-secret",
		fmt.Sprintf(`{"data":{".dockerconfigjson":%q}}`, base64.StdEncoding.EncodeToString([]byte(merged))))
	tell := func(current, state, reason string) {
		api.Put("/api/v1/nodes/n", fmt.Sprintf(`{"metadata":{"annotations":{"%[1]scurrentConfig":%[2]q,"%[1]sdesiredConfig":"rendered-master-1","%[1]sstate":%[3]q,"%[1]sreason":%[4]q}}}`,
			mine, current, state, reason))
	}
	tell("rendered-master-0", "Degraded", `unexpected on-disk state validating against rendered-master-0: content mismatch for file "/var/lib/kubelet/config.json"`)
	putPool(api, "rendered-master-1", "rendered-master-0")
	if err := m.WriteFile(rhcos.PullSecret, []byte(merged), 0o600); err != nil {
		t.Fatal(err)
	}
	api.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == undoPool && m.Content(rhcos.PullSecret) == old { // the daemon starts over
			m.File(rhcos.PullSecret, merged)
			tell("rendered-master-1", "Done", "")
			putPool(api, "rendered-master-1", "rendered-master-1")
		}
		return false
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"metadata":{"name":"rendered-master-0"}}`)
	looks := 0
	n := node(m, c)
	n.Now = func() time.Time { looks++; return time.Unix(0, 0).Add(time.Duration(looks) * time.Minute) }
	cfg := site.New()
	cfg.Spec.PullSecret = `{"auths":{"registry.site.example:5000":{"auth":"dTpw"}}}`
	if err := (&steps.PullSecret{Site: cfg}).Run(wait.Within(t, time.Second), n, report); err != nil {
		t.Fatal(err)
	}
	if looks < 3 {
		t.Errorf("put back after %d looks", looks)
	}
	if !m.Exists("/run/touchdown/files-put-back") {
		t.Error("nothing tells the rest of this boot")
	}
	if !slices.ContainsFunc(report.said, func(s string) bool { return strings.Contains(s, rhcos.PullSecret) }) {
		t.Errorf("said was %q", report.said)
	}
}

// TestUnitsAreEnabledAgain: once, with a reboot after it, and only while no kubelet runs.
func TestUnitsAreEnabledAgain(t *testing.T) {
	m, report := hosttest.New(t), newReport()
	_, c := kubetest.New(t)
	m.File("/etc/machine-config-daemon/currentconfig", `{"spec":{"config":{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"kubelet.service","enabled":true}]}}}}`)
	disabled := func(is bool) {
		m.On("systemctl list-unit-files", map[bool]string{true: "kubelet.service disabled enabled\n"}[is], nil)
	}
	recovers := func(what string, reboots bool) {
		t.Helper()
		err := new(steps.PullSecret).Recover(t.Context(), node(m, c), report)
		if _, due := errors.AsType[*steps.Reboot](err); due != reboots || !due && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	running := func(is bool) {
		m.On("systemctl is-active --quiet kubelet.service", "", map[bool]error{false: errors.New("inactive")}[is])
	}
	disabled(true)
	recovers("a machine without a kubelet", false)
	m.File("/var/lib/kubelet/config.json", "{}")
	recovers("the kubelet runs", false)
	running(false)
	recovers("the kubelet is disabled", true)
	if len(report.said) != 1 || !strings.Contains(report.said[0], "a reboot: kubelet.service") {
		t.Errorf("said was %q", report.said)
	}
	disabled(false)
	recovers("the reboot has not come", true)
	m.Boot()
	disabled(true)
	recovers("it is disabled once more", false)
	disabled(false)
	recovers("it is enabled", false)
	disabled(true)
	recovers("another power cut", true)
	m.Boot()
	running(true)
	recovers("the kubelet runs again", false)
	running(false)
	recovers("a third power cut", true)
	m.Boot()
	m.On("systemctl enable", "", errors.New("refused"))
	if err := new(steps.PullSecret).Recover(t.Context(), node(m, c), report); err == nil {
		t.Error("what was refused is not told")
	}
}

// TestFilesArePutBackOnce: what is found later in the same boot is the daemon at work. A put-back that failed is tried again.
func TestFilesArePutBackOnce(t *testing.T) {
	api, c := kubetest.New(t)
	m, report := hosttest.New(t), newReport()
	for name, content := range map[string]string{"rendered-master-0": "old", "rendered-master-1": "new"} {
		api.Put("/apis/machineconfiguration.openshift.io/v1/machineconfigs/"+name, fmt.Sprintf(
			`{"spec":{"config":{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/site.conf","mode":420,"contents":{"source":"data:,%s"}}]}}}}`, content))
	}
	m.File("/etc/machine-config-daemon/currentconfig", `{"metadata":{"name":"rendered-master-0"}}`)
	m.File("/var/lib/kubelet/config.json", "{}")
	now := time.Unix(0, 0)
	n := node(m, c)
	n.Now = func() time.Time { return now }
	look := steps.PutBackFiles(n, report)
	m.File("/etc/site.conf", "new")
	for i, want := range []string{"new", "new", "old", "new", "new", "new"} { // the first look has nothing to compare with, the second a full disk
		if m.Fill(-1); i == 1 {
			m.Fill(0)
		}
		if now = now.Add(3 * time.Minute); i == 3 {
			m.File("/etc/site.conf", "new")
		}
		look(t.Context(), "rendered-master-0")
		if got := m.Content("/etc/site.conf"); got != want {
			t.Errorf("after look %d the file is %q", i, got)
		}
	}
	if len(report.said) != 1 {
		t.Errorf("said was %q", report.said)
	}
}
