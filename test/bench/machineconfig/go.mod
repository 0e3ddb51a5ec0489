module touchdown/test/bench/machineconfig

go 1.26

require (
	github.com/openshift/baremetal-runtimecfg v0.0.0-20210210163937-34f98e0f48fd
	github.com/openshift/machine-config-operator v0.0.1-0.20250724162154-ab14c8e2843b
	github.com/vishvananda/netlink v1.1.0
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/nxadm/tail v1.4.11 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/vishvananda/netns v0.0.0-20191106174202-0a2b9b5464df // indirect
	golang.org/x/sys v0.31.0 // indirect
	gopkg.in/fsnotify.v1 v1.4.7 // indirect
)
