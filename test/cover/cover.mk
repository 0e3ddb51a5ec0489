# Coverage: which statements of the product the tests reach. Test helpers that lie beside the product are left out.
COVER     := $(CACHE)/bench/cover
COVERED    = $$(go list ./assets/... ./backend/... ./cmd/... ./steps/... ./tui/... | grep -v 'test$$' | paste -sd,)
# A column's tests, without the long list of packages that go prints with each result.
COVER_TEST = set -o pipefail; go test -timeout 30m -ldflags=-s -coverpkg=$(COVERED)

.PHONY: cover cover-whole
cover: build bench-cluster bench-node bench-images-test cover-whole ## which statements the tests reach, into .cache/bench/cover.json (UNIT=1: without the cluster of the bench)
	@$(COVER_TEST) -coverprofile=$(COVER)/unit.out -short $(NO_BENCH) | sed 's/coverage: .*//'
	$(if $(UNIT),,@$(COVER_TEST) -coverprofile=$(COVER)/cluster.out $$(go run ./test/tier -in-process) | sed 's/coverage: .*//')
	@go run ./test/cover -out $(COVER).json unit=$(COVER)/unit.out $(if $(UNIT),,'unit and cluster=$(COVER)/cluster.out')

# The journal, the runner and undo are covered whole by their own package's tests; test/cover/whole.go has the list.
cover-whole: libnmstate ## hold the journal, the runner and undo to full coverage
	@mkdir -p $(COVER)
	go test $(RACE) -short -coverprofile=$(COVER)/engine.out ./steps/engine
	@go run ./test/cover -whole $(COVER)/engine.out
