package main

import (
	_ "unsafe" // for linkname

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	opv1 "github.com/openshift/api/operator/v1"
	_ "github.com/openshift/machine-config-operator/pkg/daemon" // whose functions these are
)

// The daemon does not export how it decides. Its functions are taken by their names; go.mod pins the version that these types are of.

// diff is machineConfigDiff of pkg/daemon/update.go.
type diff struct {
	OSUpdate, KernelArguments, FIPS, Passwd, Files, Units, KernelType, Extensions, OnCluster, RevertFromOnCluster bool
}

//go:linkname reconcilable github.com/openshift/machine-config-operator/pkg/daemon.reconcilable
func reconcilable(old, fresh *mcfgv1.MachineConfig) (*diff, error)

//go:linkname actionsBefore github.com/openshift/machine-config-operator/pkg/daemon.calculatePostConfigChangeAction
func actionsBefore(d *diff, files []string) ([]string, error)

//go:linkname actions github.com/openshift/machine-config-operator/pkg/daemon.calculatePostConfigChangeNodeDisruptionActionFromMCDiffs
func actions(login bool, files, units []string, policies opv1.NodeDisruptionPolicyClusterStatus) []opv1.NodeDisruptionPolicyStatusAction

//go:linkname validateOnDiskState github.com/openshift/machine-config-operator/pkg/daemon.validateOnDiskState
func validateOnDiskState(m *mcfgv1.MachineConfig, systemd string) error
