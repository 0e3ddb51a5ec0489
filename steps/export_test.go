package steps

// The steps, for tests outside the package.
type (
	BakeArm           = bakeArm
	Credentials       = siteCredentials
	Domain            = siteDomain
	PullSecret        = sitePullSecret
	Rehearsal         = rehearsal
	Rollouts          = nameRollouts
	BakeCatalogs      = bakeCatalogs
	BakeConfiguration = bakeConfiguration
	CSRs              = nodeCSRs
	Certificates      = siteCertificates
	Clock             = siteClock
	HandOver          = handOver
	Hostname          = siteHostname
	Kubelet           = kubeletGate
	LocalNames        = localNames
	Names             = siteNames
	Network           = siteNetwork
	NodeConfig        = nodeConfig
	Routes            = appRoutes
	Seal              = seal
	Trust             = siteTrust
	BurnIn            = burnIn
	Ticks             = byHand
)

// SiteLabels is where a node keeps the labels that landings gave it.
const SiteLabels = siteLabels

// PutBackFiles is kube.RollOut's Drifted of a step.
var PutBackFiles = putBackFiles
