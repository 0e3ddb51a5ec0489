// Package assets holds what Touchdown lays on a node, as documents that people can read: no logic but that of the
// page that checks reports.
//
// machineconfigs/*.bu are Butane; what they lay down lies in iso-overlay/, paths as on the node. The MachineConfigs next to
// them are translated from both, because the translator is half as large as the rest of the program. live/*.bu are the same for a live
// system, which gets an Ignition config.
package assets

import "embed"

// ReportSchema is the JSON schema of a report (draft 2020-12).
//
//go:embed report.schema.json
var ReportSchema string

// ReportPage is a page that checks signed reports in a browser, without a network.
//
//go:embed report-page.html
var ReportPage string

// Profiles holds profiles/NAME.yaml, what kinds of sites ask of a machine.
//
//go:embed profiles/*.yaml
var Profiles embed.FS

//go:generate go test . -run TestTranslations -update

// MachineConfigs holds machineconfigs/NAME.yaml, the manifests that make a node relocatable.
//
//go:embed machineconfigs/*.yaml
var MachineConfigs embed.FS

// LiveInstall is the Ignition config of a live system that installs a machine, without what differs from node to node.
//
//go:embed live/install.ign
var LiveInstall []byte
