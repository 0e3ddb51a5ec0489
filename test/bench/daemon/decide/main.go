// Command decide asks the code of the Machine Config Daemon what it would do about MachineConfigs. It reads questions as JSON lines and
// writes an answer for each.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	opv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/machine-config-operator/pkg/apihelpers"
	"github.com/openshift/machine-config-operator/pkg/controller/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// question is what changes on a node.
type question struct {
	Have, Want []config                        // MachineConfigs before and after
	Policies   opv1.NodeDisruptionPolicyConfig // of the cluster; the operator's own are merged in
}

// config is a MachineConfig: its name and its Ignition config.
type config struct {
	Name   string
	Config json.RawMessage
}

// answer is what the daemon does about it.
type answer struct {
	Error    string                                  `json:",omitempty"` // the daemon refuses it, and the pool is degraded
	Files    []string                                // that differ
	Units    []string                                // that differ
	Actions  []string                                // with node disruption policies: since 4.17
	Before   []string                                // without: releases before
	Policies *opv1.NodeDisruptionPolicyClusterStatus // in force
	Rendered json.RawMessage                         `json:",omitempty"` // the Ignition config of what is wanted
}

func main() {
	validate := flag.String("validate", "", "validate this machine's files against the MachineConfig `FILE` (as the API gives it), and nothing else")
	flag.Parse()
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	_ = flags.Parse([]string{"-logtostderr=false", "-alsologtostderr=false", "-stderrthreshold=FATAL"})
	klog.SetOutput(io.Discard)
	err := error(nil)
	if *validate != "" {
		err = onDisk(*validate)
	} else {
		err = serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	decoder, w := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var q question
		if err := decoder.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		a, err := q.decide()
		if err != nil {
			a.Error = err.Error()
		}
		if err := w.Encode(a); err != nil {
			return err
		}
	}
}

// decide goes the daemon's way: pkg/daemon/update.go, update and the functions that it calls.
func (q question) decide() (a answer, err error) {
	merged := apihelpers.MergeClusterPolicies(q.Policies)
	a.Policies = &merged
	old, err := rendered("rendered-old", q.Have)
	if err != nil {
		return a, err
	}
	fresh, err := rendered("rendered-new", q.Want)
	if err != nil {
		return a, err
	}
	a.Rendered = fresh.Spec.Config.Raw
	d, err := reconcilable(old, fresh)
	if err != nil {
		return a, err
	}
	oldIgn, err := common.ParseAndConvertConfig(old.Spec.Config.Raw)
	if err != nil {
		return a, err
	}
	newIgn, err := common.ParseAndConvertConfig(fresh.Spec.Config.Raw)
	if err != nil {
		return a, err
	}
	a.Files = common.CalculateConfigFileDiffs(&oldIgn, &newIgn)
	a.Units = common.CalculateConfigUnitDiffs(&oldIgn, &newIgn)
	if a.Before, err = actionsBefore(d, a.Files); err != nil {
		return a, err
	}
	for _, action := range actions(d.Passwd, a.Files, a.Units, merged) {
		a.Actions = append(a.Actions, string(action.Type))
	}
	return a, nil
}

// rendered merges MachineConfigs as the render controller does.
func rendered(name string, all []config) (*mcfgv1.MachineConfig, error) {
	empty := []byte(`{"ignition":{"version":"3.2.0"}}`)
	configs := []*mcfgv1.MachineConfig{{ObjectMeta: master("00-master"), Spec: mcfgv1.MachineConfigSpec{Config: runtime.RawExtension{Raw: empty}}}}
	for _, c := range all {
		configs = append(configs, &mcfgv1.MachineConfig{
			ObjectMeta: master(c.Name),
			Spec:       mcfgv1.MachineConfigSpec{Config: runtime.RawExtension{Raw: c.Config}},
		})
	}
	m, err := common.MergeMachineConfigs(configs, &mcfgv1.ControllerConfig{})
	if err != nil {
		return nil, err
	}
	m.Name = name
	return m, nil
}

func master(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{common.MachineConfigRoleLabel: common.MachineConfigPoolMaster}}
}

func onDisk(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var m mcfgv1.MachineConfig
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	return validateOnDiskState(&m, "/etc/systemd/system")
}
