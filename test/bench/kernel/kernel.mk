# The kernel tier: a virtual machine with Debian's kernel under the packages of the bench node, for what the kernel of the
# build machine lacks (VLAN, bond, Open vSwitch's datapath, a true boot). Kept by a hash of its inputs.
KERNEL_SRC := test/bench/kernel
KERNEL     := $(CACHE)/bench/kernel
KERNEL_APT := qemu-system-x86 qemu-utils busybox-static cpio mtools dosfstools

# What node.mk defines is known only when all is read, so these are worked out late.
KERNEL_DEB   = $(KERNEL)/linux-$(call node_key,$(KERNEL_SRC)/kernel.lock)
KERNEL_GUEST = $(KERNEL)/guest-$(call node_key,$(KERNEL_SRC)/kernel.lock $(KERNEL_SRC)/mkguest.sh)-$(patsubst root-%,%,$(notdir $(NODE_ROOT)))

.SECONDEXPANSION:
.PHONY: bench-kernel kernel-tools kernel-tier
kernel-tier: build bench-kernel ## VLAN, bond, large packets, true boots and a power cut on a separate kernel
	@CI=true go test ./test/bench/kernel -run '^TestNetworks$$' -count 1 -v -timeout 100m

bench-kernel: kernel-tools $(KERNEL)/bin/guest $$(MACHINECONFIG)/done $$(NODE)/bin/podman | $$(NODE_ROOT)/etc/debian_version ## build the virtual machine with its own kernel
	@[ -d $(KERNEL_DEB) ] || { echo "fetching the guest's kernel"; $(KERNEL_SRC)/fetch.sh $(KERNEL_SRC)/kernel.lock $(KERNEL_DEB); }
	@[ -d $(KERNEL_GUEST) ] || { echo "making the disk of the virtual machine"; $(KERNEL_SRC)/mkguest.sh $(NODE_ROOT) $(KERNEL_DEB) $(KERNEL_GUEST); }
	@ln -sfn $(notdir $(KERNEL_GUEST)) $(KERNEL)/guest
	@find $(KERNEL) -maxdepth 1 -name 'guest-*' ! -name $(notdir $(KERNEL_GUEST)) -mmin +120 -exec rm -rf {} +

kernel-tools:
	@for tool in qemu-system-x86_64 qemu-img busybox cpio mtype fsck.vfat; do command -v $$tool >/dev/null && continue; \
	  $(INSTALL) packages-kernel "$(KERNEL_APT)" test/bench/install.sh $(KERNEL_APT) || exit 1; break; done

$(KERNEL)/bin/guest: $(wildcard $(KERNEL_SRC)/guest/*.go $(KERNEL_SRC)/talk/*.go) $(KERNEL_SRC)/kernel.mk
	@mkdir -p $(@D)
	@CGO_ENABLED=0 go build -ldflags "-s -w" -o $@ ./$(KERNEL_SRC)/guest
