package steps

// About how long the work takes on a single node, in seconds: what the time left is made of until the node has shown how fast it
// is. They are estimates.
const (
	trialSeconds   = 30  // network: the new settings are tried, the site answers, they are kept
	apiSeconds     = 180 // from the start of the kubelet to the cluster's API; lifecycle-agent gives all operators 3 to 10 minutes
	renewSeconds   = 600 // expired certificates of the node: the control plane recovers, then the kubelet's requests
	configSeconds  = 90  // the Machine Config Operator renders, and the node takes it without a reboot
	rebootSeconds  = 600 // a server's own start, the kubelet's, and the cluster's API
	pullSeconds    = 60  // the pull secret alone
	rolloutSeconds = 420 // the API server's new revision, the router, login and console: 5 to 10 minutes
	storeSeconds   = 60  // an image store that is new or grows, until its own progress tells better
	acceptSeconds  = 120 // a new signer of kubeconfigs: the operator, the kubelet, the certificate syncer, kube-apiserver
	lookSeconds    = 30  // of the cluster's health, besides the time that it has to stay healthy
)
