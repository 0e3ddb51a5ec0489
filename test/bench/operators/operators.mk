# Real operators of OpenShift in the place of the bench's stand-ins. Each is built once for its pinned commit.
REAL_SRC := test/bench/operators
REAL_BIN := $(shell awk '!/^#/ {print "$(CACHE)/bench/bin/operator-" $$1 "-" substr($$3, 1, 12)}' $(REAL_SRC)/operators.lock)

.PHONY: real-operators bench-operators
real-operators: bench-cluster libnmstate bench-operators ## run the move against real operators of OpenShift 4.21, and tell how the stand-ins differ (MIRROR=folder of their repositories, ORDERS=1: other orders of the writes too; 15 minutes, root)
	@CI=true go test ./$(REAL_SRC) -count 1 -v -timeout 60m $(if $(ORDERS),-args -orders)

bench-operators: $(REAL_BIN)

$(CACHE)/bench/bin/operator-%:
	@mkdir -p $(@D)
	@line=$$(awk -v key=$* '$$1 "-" substr($$3, 1, 12) == key' $(REAL_SRC)/operators.lock); \
	  $(PART) operator-$${line%% *} "OpenShift's operator $${line%% *}" $(REAL_SRC)/build.sh "$$line" $(CURDIR)/$@
