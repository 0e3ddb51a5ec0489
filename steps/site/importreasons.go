package site

// Why a value is left out, where more can be said than that a site config has nothing for it.
const (
	namesObject  = "it names the document where it comes from"
	ofInstall    = "it belongs to the installation, which the factory has done"
	ofCluster    = "it is fixed when a cluster is installed"
	ofHub        = "it belongs to the hub"
	asManifests  = "give the objects that it names as spec.manifests"
	ofBMC        = "it belongs to the service processor, through which the hub installs"
	ofIdentity   = "it belongs to the identity of the cluster, which the factory's installation made"
	followsNet   = "it follows from the network of the node"
	anotherNode  = "it is another node"
	ofOperator   = "it is what a program reports, not a setting"
	makesBridges = "it changes what belongs to the cluster itself"
)

// importReasons has the reasons by key; a key means the same in all documents that are imported. A key with [] is an item of that list.
var importReasons = map[string]string{
	"metadata": namesObject, "namespace": namesObject, "annotations": namesObject, "labels": namesObject, "creationTimestamp": namesObject,
	"status": ofOperator, "status_proxy": ofOperator,

	"hosts[]": anotherNode, "nodes[]": anotherNode, "clusters[]": "it is another cluster",

	"controlPlane": ofInstall, "compute": ofInstall, "arbiter": ofInstall, "platform": ofInstall, "bootstrapInPlace": ofInstall, "publish": ofInstall,
	"rendezvousIP": ofInstall, "rootDeviceHints": ofInstall, "role": ofInstall, "bootArtifactsBaseURL": ofInstall, "minimalISO": ofInstall,
	"installConfigOverrides": ofInstall, "ignitionConfigOverride": ofInstall, "installerArgs": ofInstall, "clusterImageSetNameRef": ofInstall,
	"install_config": ofInstall, "releaseRegistry": ofInstall, "release_registry": ofInstall,
	"diskPartition": ofInstall, "diskEncryption": ofInstall, "architecture": ofInstall, "cpuArchitecture": ofInstall,
	"caBundleRef":                 "give the bundle of that ConfigMap as spec.additionalTrustBundle",
	"proxyConfigmapName":          "Touchdown keeps the bundle in a ConfigMap that it names itself",
	"additionalTrustBundlePolicy": "the bundle is for nodes and proxy alike",

	"networking": ofCluster, "networkType": ofCluster, "clusterNetwork": ofCluster, "serviceNetwork": ofCluster, "fips": ofCluster,
	"capabilities": ofCluster, "cpuPartitioningMode": ofCluster, "featureSet": ofCluster, "platformType": ofCluster, "cpuset": ofCluster, "clusterType": ofCluster,

	"templateRefs": ofHub, "extraLabels": ofHub, "extraAnnotations": ofHub, "clusterLabels": ofHub,
	"crTemplates": ofHub, "crAnnotations": ofHub, "crSuppression": ofHub, "suppressedManifests": ofHub, "pruneManifests": ofHub,
	"holdInstallation": ofHub, "hostRef": ofHub,
	"extraManifestsRefs": asManifests, "manifestsConfigMapRefs": asManifests, "extraManifestPath": asManifests, "extraManifests": asManifests,
	"acmRegistration": "give the import manifest of the hub as spec.manifests",
	"siteConfigMap":   ofHub, "biosConfigRef": ofHub, "sshPrivateKeySecretRef": ofHub, "reinstall": ofHub,

	"bmc": ofBMC, "bmcAddress": ofBMC, "bmcCredentialsName": ofBMC, "bootMACAddress": ofBMC, "bootMode": ofBMC, "ironicInspect": ofBMC,
	"automatedCleaningMode": ofBMC,

	"cluster_id": ofIdentity, "infra_id": ofIdentity, "KubeconfigCryptoRetention": ofIdentity, "server_ssh_keys": ofIdentity,
	"kubeadmin_password_hash": "spec.credentials.kubeadmin says what becomes of the password",

	"node_ip": followsNet, "node_ips": followsNet, "machine_network": followsNet, "machine_networks": followsNet, "machineNetwork": followsNet,
	"apiVIP": followsNet, "apiVIPs": followsNet, "apiVips": followsNet, "ingressVips": followsNet, "ingressVIP": followsNet, "ingressVIPs": followsNet, "addInternalDNSEntries": followsNet,
	"interfaces": "they are the MAC addresses of names that no network settings of the document have",

	"ovn": makesBridges, "ovs-db": makesBridges,
}
