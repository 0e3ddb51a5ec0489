# The bench node: a root tree of Debian packages (packages.txt, packages.lock), the files of rootfs/ and the node's
# programs. What costs minutes is kept by a hash of its inputs, so a fresh checkout with an old .cache builds nothing.
NODE_SRC := test/bench/node
NODE     := $(CACHE)/bench/node
NODE_APT := systemd-container mmdebstrap ethtool xfsprogs iproute2 util-linux

node_key = $(shell cat $(1) 2>/dev/null | sha256sum | cut -c1-16)

NODE_ROOT := $(NODE)/root-$(call node_key,$(addprefix $(NODE_SRC)/,packages.txt packages.lock mkroot.sh))

.PHONY: bench-node node-tools
bench-node: node-tools $(NODE)/layer.stamp ## build the bench node (minutes the first time)

# Only asks the package manager when a tool is missing.
node-tools:
	@for tool in systemd-nspawn mmdebstrap ethtool mkfs.xfs xfs_io ip setpriv; do command -v $$tool >/dev/null && continue; \
	  echo "installing $(NODE_APT)"; apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(NODE_APT); break; done

$(NODE_ROOT)/etc/debian_version: | node-tools
	@echo "making the root tree of the bench node (2 minutes the first time)"
	@mkdir -p $(NODE)
	@$(NODE_SRC)/mkroot.sh $(NODE_SRC)/packages.txt $(NODE_SRC)/packages.lock $(NODE_ROOT)

$(NODE)/layer.stamp: $(shell find $(NODE_SRC)/rootfs -type f -o -type d) $(NODE_SRC)/mklayer.sh $(NODE_PROGRAMS) | $(NODE_ROOT)/etc/debian_version
	@ln -sfn $(notdir $(NODE_ROOT)) $(NODE)/root
	@$(NODE_SRC)/mklayer.sh $(NODE_SRC)/rootfs $(NODE)/layer $(NODE_PROGRAMS)
	@touch $@
