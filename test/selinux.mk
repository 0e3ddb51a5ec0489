# What SELinux on a node allows to the units, scripts and files of Touchdown. The facts are kept in test/selinux/facts.txt, and
# CI's tier holds the units to them; this asks the compiled policies again, which is due when uses.txt or a unit changes.
#
# The policies: of RHEL 9.2 (OpenShift 4.14, 4.15), 9.4 (4.16 to 4.18), and 9.5 for 9.6 (4.19 and later), whose sources are
# not in the mirrors yet. Each: commit of selinux-policy at that time, version of container-selinux, configuration of the package.
SELINUX_9.2 := 1d9bc2ca7ac89c16e31bc00c7b59fdf4d8dfd4e9 v2.205.0 1ec44d78b163c75b65165d8f1f0539fa4c9d5ae3
SELINUX_9.4 := d1f3f7d9fe7f0759f7f2a3f721616aa211b27274 v2.229.0 ae8dd050a34a7b52d68fafb610c576ad62e9039c
SELINUX_9.5 := 73a2d29ae8592bc323f8bf79165ad0d19c9aadcf v2.235.0 ae8dd050a34a7b52d68fafb610c576ad62e9039c
SELINUX_APT := checkpolicy semodule-utils policycoreutils python3-setools m4 gawk
SELINUX_OF  := 9.2 9.4 9.5
SELINUX     := $(CACHE)/selinux
SELINUX_SRC := fedora-selinux/selinux-policy containers/container-selinux openela-main/selinux-policy

.PHONY: selinux-facts
selinux-facts: $(SELINUX_OF:%=$(SELINUX)/%/policy) ## ask the SELinux policies of RHEL 9 about our units (MIRROR=folder of clones; 10 minutes the first time)
	@go test ./test/selinux -run TestSELinuxLetsUsWork -args -questions $(CURDIR)/$(SELINUX)/questions >/dev/null
	@/usr/bin/python3 test/selinux/facts.py $(foreach v,$(SELINUX_OF),$(v)=$(SELINUX)/$(v)) <$(SELINUX)/questions >$(SELINUX)/facts.txt
	@mv $(SELINUX)/facts.txt test/selinux/facts.txt && grep -c ^yes test/selinux/facts.txt
	go test ./test/selinux

$(SELINUX)/%/policy: test/selinux/build.sh | $(SELINUX)/tools $(or $(MIRROR),$(SELINUX)/mirror)
	test/selinux/build.sh $(or $(MIRROR),$(CURDIR)/$(SELINUX)/mirror) $(CURDIR)/$(SELINUX)/$* $(SELINUX_$*)

$(SELINUX)/tools:
	@for tool in checkmodule semodule m4 gawk sesearch; do command -v $$tool >/dev/null && continue; \
	  $(INSTALL) packages-selinux "$(SELINUX_APT) setools" test/bench/install.sh $(SELINUX_APT) setools || exit 1; break; done
	@mkdir -p $@

$(SELINUX)/mirror:
	@for r in $(SELINUX_SRC); do git clone --quiet https://github.com/$$r $@.new/$$(echo $$r | tr / +)/repo || exit 1; done
	@mv $@.new $@
