// Package assets holds what Touchdown lays on a node, as documents that people can read: no logic.
//
// machineconfigs/*.bu are Butane; what they lay down lies in iso-overlay/, paths as on the node. The MachineConfigs next to
// them are translated from both, because the translator is half as large as the rest of the program.
package assets

import "embed"

// ReportSchema is the JSON schema of a report (draft 2020-12).
//
//go:embed report.schema.json
var ReportSchema string

//go:generate go test . -run TestMachineConfigs -update

// MachineConfigs holds machineconfigs/NAME.yaml, the manifests that make a node relocatable.
//
//go:embed machineconfigs/*.yaml
var MachineConfigs embed.FS
