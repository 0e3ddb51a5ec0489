# What tests need besides the bench node: a service processor and a client for it; programs that read site media; and what others read
# a report, its code and a layout of the keyboard with; and a bus.
E2E_APT := openipmi ipmitool dosfstools mtools xorriso openssl nodejs zbar-tools kbd console-data dbus-daemon

.PHONY: e2e-tools
e2e-tools: | node-tools ## install what the tests of the console through IPMI, of site media and of the report need
	@for tool in ipmi_sim ipmitool fsck.vfat mcopy xorriso openssl node zbarimg loadkeys dbus-daemon; do command -v $$tool >/dev/null && continue; \
	  $(INSTALL) packages-e2e "$(E2E_APT)" test/bench/install.sh $(E2E_APT) || exit 1; break; done
	@loadkeys --parse us >/dev/null 2>&1 || $(INSTALL) packages-e2e "$(E2E_APT)" test/bench/install.sh $(E2E_APT)
	@loadkeys --parse us >/dev/null
