# What the console tests need besides the bench node: a service processor and a client for it.
E2E_APT := openipmi ipmitool

.PHONY: e2e-tools
e2e-tools: | node-tools ## install what the tests of the console through IPMI need
	@for tool in ipmi_sim ipmitool; do command -v $$tool >/dev/null && continue; \
	  echo "installing $(E2E_APT)"; apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -qy --no-install-recommends $(E2E_APT); break; done
