# Touchdown. Everything that is built or fetched goes to .cache; nothing is needed beforehand but Go, git and make.
SHELL := /bin/bash
.DEFAULT_GOAL := help

CACHE   := .cache
BIN     := $(CACHE)/bin/touchdown
DEMO    := $(CACHE)/bin/demo
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# cgo is off: one static file that starts on any node.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath -buildvcs=false

# The cluster of the bench says that it is this Kubernetes; without it /version would name a template.
KUBE_VERSION := v1.34.1
KUBE_LDFLAGS := -s -w \
  -X k8s.io/component-base/version.gitVersion=$(KUBE_VERSION) \
  -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34 \
  -X k8s.io/client-go/pkg/version.gitVersion=$(KUBE_VERSION)

BENCH     := $(CACHE)/bench/bin/controlplane
BENCH_SRC := $(shell find test/bench/controlplane -name '*.go' 2>/dev/null) test/bench/controlplane/go.mod test/bench/controlplane/go.sum
GO_SRC    := $(shell find backend cmd steps tui -name '*.go' 2>/dev/null) go.mod go.sum

.PHONY: help demo test bench lint build crash clean golden bench-cluster

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: build bench-cluster $(DEMO) ## sit at the wizard's console (SITE=file: headless; SPEED=20: pace of the operators)
	@$(DEMO) -touchdown $(BIN) -dir $(CACHE)/demo -speed $(or $(SPEED),20) $(if $(SITE),-site $(SITE))

test: build bench-cluster ## run every test
	@go vet ./...
	CGO_ENABLED=1 go test -race ./...
	@cd test/bench/controlplane && go vet ./... && go test ./...

bench: build bench-cluster ## measure, and leave .cache/bench/*.json
	@mkdir -p $(CACHE)/bench
	go run ./test/measure -touchdown $(BIN) -out $(CACHE)/bench

crash: build bench-cluster ## kill the engine at event boundaries and look at the end (N=50 SEED=7)
	CRASH_N=$(or $(N),50) CRASH_SEED=$(or $(SEED),7) go test ./cmd/touchdown -run 'TestCrash' -count 1 -v -timeout 60m

lint: ## run the linters of .golangci.yml
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0 run ./...

build: $(BIN) ## build .cache/bin/touchdown

golden: ## write the expected screens and texts anew; read the diff
	go test ./tui ./steps/site ./backend/report -update

clean: ## remove .cache
	rm -rf $(CACHE)

bench-cluster: $(BENCH) $(CACHE)/bench/crds $(CACHE)/bench/crds-4.14

$(BIN): $(GO_SRC)
	@echo "building touchdown $(VERSION)"
	@mkdir -p $(@D)
	@go build -ldflags "-s -w -X main.version=$(VERSION)" -o $@ ./cmd/touchdown

$(DEMO): $(shell find test/demo test/bench -maxdepth 1 -name '*.go' 2>/dev/null) go.mod
	@mkdir -p $(@D)
	@go build -o $@ ./test/demo

$(BENCH): $(BENCH_SRC)
	@echo "building the bench's control plane: etcd, kube-apiserver $(KUBE_VERSION), stand-in operators (4 to 8 minutes the first time)"
	@mkdir -p $(@D)
	@go build -C test/bench/controlplane -ldflags "$(KUBE_LDFLAGS)" -o $(CURDIR)/$@ .

# The definitions of today's OpenShift and of the oldest that is supported.
$(CACHE)/bench/crds: $(BENCH)
	@$(BENCH) crds --to $@ && touch $@

$(CACHE)/bench/crds-4.14: $(BENCH)
	@$(BENCH) crds --older --to $@ && touch $@
