# The bench node: a root tree of Debian packages (packages.txt, packages.lock), the files of rootfs/ and the node's
# programs. What costs minutes is kept by a hash of its inputs, so a fresh checkout with an old .cache builds nothing.
NODE_SRC := test/bench/node
NODE     := $(CACHE)/bench/node
NODE_APT := systemd-container mmdebstrap ethtool xfsprogs iproute2 util-linux gcc libc6-dev libseccomp-dev libgpgme-dev libassuan-dev pkg-config

node_key = $(shell cat $(1) 2>/dev/null | sha256sum | cut -c1-16)

NODE_ROOT    := $(NODE)/root-$(call node_key,$(addprefix $(NODE_SRC)/,packages.txt packages.lock mkroot.sh))
NODE_KUBELET := $(NODE)/bin/kubelet-$(call node_key,test/bench/controlplane/go.mod test/bench/controlplane/go.sum)/kubelet
CRIO_INPUTS  := test/bench/crio/go.mod test/bench/crio/go.sum
IMAGESTORE   := $(NODE)/bin/imagestore-$(call node_key,$(CRIO_INPUTS) $(wildcard test/bench/crio/imagestore/*.go))/imagestore
NODE_CRIO    := $(NODE)/bin/crio-$(call node_key,$(CRIO_INPUTS))
CRIO_TAGS    := exclude_graphdriver_btrfs exclude_graphdriver_devicemapper containers_image_openpgp
CRIO_GO      := env CGO_ENABLED=1 CGO_CFLAGS= CGO_LDFLAGS= go build -C test/bench/crio -tags "$(CRIO_TAGS)" -ldflags "-s -w"

# What the Machine Config Operator lays on a node, rendered from the templates of its module.
MACHINECONFIG_SRC := test/bench/machineconfig
MACHINECONFIG     := $(NODE)/machineconfig-$(call node_key,$(addprefix $(MACHINECONFIG_SRC)/,go.mod go.sum main.go))

# What the layer gets besides rootfs/: programs, and the definitions that the control plane starts with.
NODE_PROGRAMS := $(NODE_KUBELET) $(addprefix $(NODE_CRIO)/,crio pinns) $(IMAGESTORE) $(addprefix $(NODE)/bin/,crun-wrap pod podman crictl) $(BENCH)

.PHONY: bench-node node-tools
bench-node: node-tools $(NODE)/layer.stamp ## build the bench node (minutes the first time)

# Only asks the package manager when a tool is missing.
node-tools:
	@for tool in systemd-nspawn mmdebstrap ethtool mkfs.xfs xfs_io ip setpriv gcc pkg-config; do command -v $$tool >/dev/null && continue; \
	  $(INSTALL) packages-node "$(NODE_APT)" test/bench/install.sh $(NODE_APT) || exit 1; break; done
	@pkg-config --exists libseccomp gpgme || $(INSTALL) packages-node "$(NODE_APT)" test/bench/install.sh $(NODE_APT)

$(NODE_ROOT)/etc/debian_version: | node-tools
	@mkdir -p $(NODE)
	@$(PART) root "the node's root tree of Debian packages" $(NODE_SRC)/mkroot.sh $(NODE_SRC)/packages.txt $(NODE_SRC)/packages.lock $(NODE_ROOT)

# After the control plane: most of what it is made of is compiled then, and both at once would compile it twice.
$(NODE_KUBELET): | $(BENCH)
	@mkdir -p $(@D)
	@$(PART) kubelet "kubelet $(KUBE_VERSION)" env CGO_ENABLED=0 go build -C test/bench/controlplane -ldflags "$(KUBE_LDFLAGS)" -o $(CURDIR)/$@ k8s.io/kubernetes/cmd/kubelet

$(NODE_CRIO)/crio: | node-tools
	@mkdir -p $(@D)
	@$(PART) crio "CRI-O" $(CRIO_GO) -o $(CURDIR)/$@ github.com/cri-o/cri-o/cmd/crio

$(IMAGESTORE): | node-tools
	@mkdir -p $(@D)
	@$(PART) imagestore "the filler of image stores" $(CRIO_GO) -o $(CURDIR)/$@ ./imagestore
	@ln -sfn $(notdir $(@D))/imagestore $(NODE)/bin/imagestore

$(NODE_CRIO)/pinns: | node-tools
	@mkdir -p $(@D)
	@gcc -O2 -o $@ $$(go list -C test/bench/crio -m -f '{{.Dir}}' github.com/cri-o/cri-o)/pinns/src/*.c

$(NODE)/bin/crun-wrap: $(NODE_SRC)/crunwrap/main.go $(NODE_SRC)/node.mk
	@mkdir -p $(@D)
	@CGO_ENABLED=0 go build -ldflags "-s -w" -o $@ ./$(NODE_SRC)/crunwrap

$(NODE)/bin/crictl: $(NODE_SRC)/crictl/main.go go.mod $(NODE_SRC)/node.mk
	@mkdir -p $(@D)
	@CGO_ENABLED=0 go build -ldflags "-s -w" -o $@ ./$(NODE_SRC)/crictl

$(NODE)/bin/pod: $(NODE_SRC)/pod/main.go $(NODE_SRC)/node.mk
	@mkdir -p $(@D)
	@CGO_ENABLED=0 go build -ldflags "-s -w" -o $@ ./$(NODE_SRC)/pod

# The image that nodeip-configuration runs is one that every installed node has; the bench's podman runs no image at all.
$(MACHINECONFIG)/done:
	@$(PART) machineconfig "what the Machine Config Operator lays on a node" $(NODE_SRC)/mkmachineconfig.sh $(MACHINECONFIG_SRC) localhost/bench/pod:1 $(@D)
	@ln -sfn $(notdir $(@D)) $(NODE)/machineconfig
	@touch $@

$(NODE)/bin/podman: $(MACHINECONFIG_SRC)/go.mod $(wildcard $(MACHINECONFIG_SRC)/podman/*.go) $(NODE_SRC)/node.mk
	@mkdir -p $(@D)
	@CGO_ENABLED=0 go build -C $(MACHINECONFIG_SRC) -ldflags "-s -w" -o $(CURDIR)/$@ ./podman

# The NetworkManager of the nodes of OpenShift 4.14 and 4.15, which lies between packages and layer where it is asked for.
NODE_MANAGER := $(NODE)/networkmanager-1.42-$(call node_key,$(NODE_SRC)/mknm.sh)

# What holds the node's network: settings tried and kept, boots without cable and lease, br-ex, a bake, and a landing on a lease.
MANAGER_TESTS := TestSettingsOnANode TestNoLeaseAtBoot TestTheInternalAddressNeedsNoSite TestSparePorts TestBrExIsRebuiltAtEveryBoot TestNoLeaseNoBrEx \
  TestBakeAndUnbake TestPodsAnswerOnALease
space := $(subst ,, )

.PHONY: bench-networkmanager
bench-networkmanager: bench-node bench-daemon build $(NODE_MANAGER)/usr/sbin/NetworkManager ## run the tests of the node's network with NetworkManager 1.42, that of OpenShift 4.14 and 4.15 (25 minutes, root)
	@ln -sfn $(notdir $(NODE_MANAGER)) $(NODE)/networkmanager-1.42
	@CI=true BENCH_NETWORKMANAGER=1.42 go test ./backend/network ./backend/factory ./test/bench/node ./test/e2e -count 1 -p 1 -v -timeout 60m -run '^($(subst $(space),|,$(strip $(MANAGER_TESTS))))$$'

$(NODE_MANAGER)/usr/sbin/NetworkManager: | node-tools
	@$(PART) networkmanager "NetworkManager 1.42 with its plugin for Open vSwitch" $(NODE_SRC)/mknm.sh $(NODE_MANAGER)

$(NODE)/layer.stamp: $(shell find $(NODE_SRC)/rootfs -type f -o -type d) $(NODE_SRC)/mklayer.sh $(NODE_PROGRAMS) $(CACHE)/bench/crds $(MACHINECONFIG)/done | $(NODE_ROOT)/etc/debian_version
	@ln -sfn $(notdir $(NODE_ROOT)) $(NODE)/root
	@$(PART) layer "the node's own files" $(NODE_SRC)/mklayer.sh $(MACHINECONFIG)/root $(NODE_SRC)/rootfs $(CACHE)/bench/crds $(NODE)/layer $(NODE_PROGRAMS)
	@touch $@
