// Package rhcos names the files of OpenShift and of its operating system on the node that several packages read or write: one place
// for each path. A path that one package alone uses stands there.
package rhcos

const (
	// Chrony configures the clock's servers.
	Chrony = "/etc/chrony.conf"
	// Profiles are NetworkManager's connections that last.
	Profiles = "/etc/NetworkManager/system-connections"
	// Dnsmasq has the configuration of the node's own name server, which OpenShift lays on single nodes.
	Dnsmasq = "/etc/dnsmasq.d"
	// Units has the units that an administrator, or the Machine Config Operator, laid.
	Units = "/etc/systemd/system"
	// BootedBySystemd is there where systemd is at work: sd_booted(3).
	BootedBySystemd = "/run/systemd/system"

	// CurrentConfig is the MachineConfig that the Machine Config Daemon has brought the node to.
	CurrentConfig = "/etc/machine-config-daemon/currentconfig"

	// Storage tells CRI-O where its images are.
	Storage = "/etc/containers/storage.conf"
	// Registries and the files in RegistriesDropIns have mirrors and blocked registries.
	Registries        = "/etc/containers/registries.conf"
	RegistriesDropIns = "/etc/containers/registries.conf.d"
	// RegistryCerts has a folder for each registry, with its authorities.
	RegistryCerts = "/etc/docker/certs.d"
	// Crio and the files in CrioDropIns configure CRI-O.
	Crio        = "/etc/crio/crio.conf"
	CrioDropIns = "/etc/crio/crio.conf.d"
	// Proxy has the cluster's proxy, for services.
	Proxy = "/etc/mco/proxy.env"

	// PullSecret has the node's credentials for registries; the Machine Config Operator makes it of the cluster's pull secret.
	PullSecret = "/var/lib/kubelet/config.json"
	// KubeletPKI has kubelet's certificates.
	KubeletPKI = "/var/lib/kubelet/pki"
	// KubeletCA has the authorities of those who ask kubelet.
	KubeletCA = "/etc/kubernetes/kubelet-ca.crt"
	// Manifests and Resources are the static pods, and what they read.
	Manifests = "/etc/kubernetes/manifests"
	Resources = "/etc/kubernetes/static-pod-resources"
)
