# What the console tests need besides the bench node: a service processor and a client for it; and programs that read site media.
E2E_APT := openipmi ipmitool dosfstools mtools xorriso

.PHONY: e2e-tools
e2e-tools: | node-tools ## install what the tests of the console through IPMI and of site media need
	@for tool in ipmi_sim ipmitool fsck.vfat mcopy xorriso; do command -v $$tool >/dev/null && continue; \
	  echo "installing $(E2E_APT)"; apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends $(E2E_APT); break; done
