# Real operators of OpenShift and its router in the place of the bench's stand-ins, and the node-ip of its nodes. Each is built once for its pinned commit.
REAL_SRC := test/bench/operators
REAL_BIN := $(shell awk '!/^#/ {print "$(CACHE)/bench/bin/operator-" $$1 "-" substr($$3, 1, 12)}' $(REAL_SRC)/operators.lock)

# The machine-config-controller comes with its templates as a Go module, of July 2025.
MCC           := $(CACHE)/bench/bin/machine-config-controller
MCC_SRC       := $(REAL_SRC)/controller
MCC_TEMPLATES := $(CACHE)/bench/machine-config-templates

.PHONY: real-operators bench-operators bench-controller
real-operators: bench-cluster libnmstate bench-operators ## run the move against real operators of OpenShift 4.21, and tell how the stand-ins differ (MIRROR=folder of their repositories, ORDERS=1: other orders of the writes too; 15 minutes, root)
	@CI=true go test ./test/bench/nodeip -count 1 -run TestNodeIP
	@CI=true go test ./$(REAL_SRC) -count 1 -v -timeout 60m $(if $(ORDERS),-args -orders)

bench-operators: $(REAL_BIN) bench-controller

bench-controller: $(MCC) ## build OpenShift's machine-config-controller (2 minutes)

$(CACHE)/bench/bin/operator-%:
	@mkdir -p $(@D)
	@line=$$(awk -v key=$* '$$1 "-" substr($$3, 1, 12) == key' $(REAL_SRC)/operators.lock); \
	  $(PART) operator-$${line%% *} "OpenShift's operator $${line%% *}" $(REAL_SRC)/build.sh "$$line" $(CURDIR)/$@

$(MCC): $(wildcard $(MCC_SRC)/*) $(REAL_SRC)/operators.mk
	@mkdir -p $(@D)
	@$(PART) machine-config-controller "OpenShift's machine-config-controller" env CGO_ENABLED=0 \
	  GOFLAGS="-trimpath -buildvcs=false -tags=containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper,containers_image_storage_stub" \
	  go build -C $(MCC_SRC) -ldflags "-s -w" -o $(CURDIR)/$@ github.com/openshift/machine-config-operator/cmd/machine-config-controller
	@rm -rf $(MCC_TEMPLATES)
	@cp -r "$$(go list -C $(MCC_SRC) -m -f '{{.Dir}}' github.com/openshift/machine-config-operator)/templates" $(MCC_TEMPLATES)
	@chmod -R u+w $(MCC_TEMPLATES)
