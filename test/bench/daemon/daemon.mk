# How the Machine Config Daemon decides, as a program: its own code from the machine-config-operator's module.
DECIDE     := $(CACHE)/bench/bin/decide
DECIDE_SRC := test/bench/daemon/decide

.PHONY: bench-daemon
bench-daemon: $(DECIDE) ## build the Machine Config Daemon's decisions as a program (3 minutes)

$(DECIDE): $(wildcard $(DECIDE_SRC)/*) test/bench/daemon/daemon.mk
	@mkdir -p $(@D)
	@$(PART) decide "the Machine Config Daemon's decisions" env CGO_ENABLED=0 \
	  GOFLAGS="-trimpath -buildvcs=false -tags=containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,containers_image_storage_stub" \
	  go build -C $(DECIDE_SRC) -ldflags "-s -w" -o $(CURDIR)/$@ .
