# What the console tests need besides the bench node: a service processor and a client for it; and programs that read site media.
E2E_APT := openipmi ipmitool dosfstools mtools xorriso

.PHONY: e2e-tools
e2e-tools: | node-tools ## install what the tests of the console through IPMI and of site media need
	@for tool in ipmi_sim ipmitool fsck.vfat mcopy xorriso; do command -v $$tool >/dev/null && continue; \
	  $(INSTALL) packages-e2e "$(E2E_APT)" test/bench/install.sh $(E2E_APT) || exit 1; break; done
