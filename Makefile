# Touchdown. Everything that is built or fetched goes to .cache; CONTRIBUTING.md says what is needed beforehand.
SHELL := /bin/bash
.DEFAULT_GOAL := help

CACHE   := .cache
BIN     := $(CACHE)/bin/touchdown
DEMO    := $(CACHE)/bin/demo
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# libnmstate is a Rust library behind a C interface; it is linked into the one static file that starts on any node.
LIBNMSTATE := $(CACHE)/libnmstate/libnmstate.a
export CGO_ENABLED := 1
export CGO_CFLAGS  := -I$(CURDIR)/$(CACHE)/libnmstate/include
export CGO_LDFLAGS := -L$(CURDIR)/$(CACHE)/libnmstate
# The slow builds (a Rust library, three Go programs of others) run side by side.
MAKEFLAGS += -j2

# Name look-ups are Go's own: what a static glibc would need at run time (the linker warns of it for functions of
# Rust's library that nobody calls) is not used. gRPC's traces need html/template, which keeps the linker from dropping
# what nobody calls: a third of the program. Tests have the same tags, so that each package is compiled once for both.
export GOFLAGS := -trimpath -buildvcs=false -tags=netgo,osusergo,grpcnotrace

# A program that the race detector watches sleeps for a second at its end, to see what others still do (go.dev/doc/articles/race_detector).
# The tests start hundreds of them: commands, consoles, readers of media.
export GORACE := atexit_sleep_ms=0

STATIC := -ldflags '-s -w -X main.version=$(VERSION) -linkmode external -extldflags "-static -Wl,--no-warnings -Wl,--gc-sections"'

# The cluster of the bench says that it is this Kubernetes; without it /version would name a template.
KUBE_VERSION := v1.34.1
KUBE_LDFLAGS := -s -w \
  -X k8s.io/component-base/version.gitVersion=$(KUBE_VERSION) \
  -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34 \
  -X k8s.io/client-go/pkg/version.gitVersion=$(KUBE_VERSION)

BENCH     := $(CACHE)/bench/bin/controlplane
BENCH_FIND = find test/bench/controlplane -type f 2>/dev/null
BENCH_SRC := $(shell $(BENCH_FIND))
GO_FIND    = find assets backend cmd iso-overlay steps tui -type f -not -path '*/testdata/*' -not -path '*/pictures/*' 2>/dev/null
GO_SRC    := $(shell $(GO_FIND)) go.mod go.sum

# One part of the build: a line when it begins and ends, and its time in .cache/bench/build.json.
PART := CACHE=$(CACHE) test/bench/part.sh
# Packages of Debian in the same way: a name for build.json, the packages as one word, and again as several.
INSTALL := DOING=installing DID=installed $(PART)

include $(wildcard assets/release/*.mk test/*.mk test/cover/*.mk test/bench/*/*.mk test/e2e/*.mk)

.PHONY: help demo test bench lint build clean golden pictures bench-cluster libnmstate env

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-21s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What can go wrong in a demo. A name that is not among them is told before anything is built or booted.
FAULTS := test/demo/faults.txt
ifeq ($(FAULT),$(filter $(FAULT),$(shell cut -d' ' -f1 $(FAULTS))))
demo: bench-node build $(DEMO) ## sit at the wizard's console (SITE=file: headless; FAULT=help: what can go wrong; SPEED=20: pace of the operators)
	@$(DEMO) -dir $(CACHE)/demo -speed $(or $(SPEED),20) $(if $(SITE),-site $(SITE)) $(if $(FAULT),-fault $(FAULT))
else
demo:
	@[ "$(FAULT)" = help ] || echo "there is no fault \"$(FAULT)\"; there are:"; sed 's/^/  make demo FAULT=/' $(FAULTS); [ "$(FAULT)" = help ]
endif

# CI's tier: all that is quick, with the race detector; then one pass over every real part of the bench. There the program
# runs as it is released, in its own processes. What passed is kept until something that it rests on changes (FRESH=1
# runs it all the same); test/README.md has the table.
# The packages whose tests take longest begin first: else the last of them runs alone at the end. Tests wait as much as they work, so that
# three packages at once keep two processors busy.
LONGEST  = ./cmd/touchdown ./steps/engine ./tui ./steps ./backend/media/iso
BOOTING  = '/test/(bench/(node|kernel)|e2e(/.*)?)$$'
NO_BENCH = $$(go list $(LONGEST) ./... | grep -vE $(BOOTING))
TIER     = go run ./test/tier -cache $(CACHE)/bench

# The rows wait more often than they work: they run beside the quick tests. The linker leaves out what only a debugger reads, which halves
# its work for each of 70 programs. Nothing is watched in packages that only compute: the hash of PINs, which takes ten times as long
# under the detector, and the widths of characters, whose table each of hundreds of started programs makes again (0.17 s, 0.02 without).
# Garbage is collected half as often, which saves a tenth of the work; the largest test program takes 4.6 GB in place of 3.6.
LESS_GC    = GOGC=200
COMPUTES   = golang.org/x/crypto/blowfish github.com/mattn/go-runewidth github.com/charmbracelet/x/ansi github.com/rivo/uniseg \
  github.com/clipperhouse/displaywidth github.com/clipperhouse/uax29/v2/graphemes
RACE       = -race -ldflags=-w $(COMPUTES:%=-gcflags=%=-race=false)
TIER_NEEDS = build bench-cluster bench-factory bench-images-small e2e-tools

test: test-quick test-rows ## CI's tier: unit tests, and one pass over every real part; what passed is kept (FRESH=1 runs it all)

.PHONY: test-quick test-rows test-all flake flake-quick
test-quick: $(TIER_NEEDS)
	CI=true $(LESS_GC) go test $(RACE) -short -vet=all $(if $(FRESH),-count=1) -p 3 -timeout 30m $(NO_BENCH)
	@go vet $$(go list ./... | grep -E $(BOOTING))
	@cd test/bench/controlplane && export CGO_ENABLED=0 && go vet ./... && go test $(if $(FRESH),-count=1) ./...

test-rows: $(TIER_NEEDS)
	@$(TIER) -tier test

test-all: test-quick bench-kernel bench-daemon bench-login bench-controller bench-staticpod ## every test that needs no other repository and no other NetworkManager: CI's tier, fault matrices, second walks, the kernel tier, lint, release, coverage; it continues (2 hours, FRESH=1 runs it all)
	@$(TIER) -tier all

flake: $(TIER_NEEDS) ## CI's tier N times beside LOAD busy processes, in shuffled orders; it continues (N=10 LOAD=4 SEED=1, FRESH=1 begins again)
	@$(TIER) -flake $(or $(N),10) -load $(or $(LOAD),4) -seed $(or $(SEED),1)

flake-quick: $(TIER_NEEDS) ## the quick tests, with the race detector, the same way
	@$(TIER) -flake $(or $(N),10) -load $(or $(LOAD),4) -seed $(or $(SEED),1) $(NO_BENCH)

bench: build bench-cluster $(CACHE)/bench/bin/empty ## measure, and leave .cache/bench/*.json (SMALL=1: the smallest size, to see that it works)
	@mkdir -p $(CACHE)/bench
	go run ./test/measure $(if $(SMALL),-small) -touchdown $(BIN) -out $(CACHE)/bench

# What the console's memory is measured against: a Bubble Tea program that does nothing, linked as Touchdown is; and the same with all of
# Touchdown's packages in it, which shows what one program for everything costs.
$(CACHE)/bench/bin/empty: $(BIN) $(wildcard test/measure/empty/*.go)
	@mkdir -p $(@D)
	@go build $(STATIC) -o $@ ./test/measure/empty
	@go build $(STATIC) -tags=netgo,osusergo,grpcnotrace,whole -o $@-whole ./test/measure/empty

.PHONY: bench-images bench-pulls
bench-images: libnmstate ## measure the image store against cp, and pulls, and leave .cache/bench/images.json (20 minutes, 25 GB, root)
	@mkdir -p $(CACHE)/bench
	go run ./test/measure $(if $(SMALL),-small) -only images -out $(CACHE)/bench
	@$(MAKE) --no-print-directory bench-pulls

bench-pulls: libnmstate bench-node bench-images-test ## measure pulls alone, into the same file (10 minutes, root)
	@mkdir -p $(CACHE)/bench
	go run ./test/measure $(if $(SMALL),-small) -only pulls -out $(CACHE)/bench

lint: libnmstate ## run the linters of .golangci.yml, and look for functions that only tests reach
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.5.0 run --allow-serial-runners ./...
	@dead=$$(go run golang.org/x/tools/cmd/deadcode@v0.52.0 ./cmd/touchdown) && { [ -z "$$dead" ] || { echo "only tests reach:"; echo "$$dead"; exit 1; }; }

build: $(BIN) ## build .cache/bin/touchdown

golden: ## write the expected screens and texts again; read the diff
	go test ./tui ./steps/site ./backend/report ./test/tier -update

pictures: libnmstate ## redraw the README's pictures, from the real screens; look at them
	go test ./tui -run '^TestPictures$$' -update

clean: ## remove .cache
	rm -rf $(CACHE)

bench-cluster: $(BENCH) $(CACHE)/bench/crds $(CACHE)/bench/crds-4.14

# The variables that a go command typed by hand needs: eval "$$(make -s env)"
env:
	@$(MAKE) -s libnmstate >&2 # the shell reads what this target prints
	@printf 'export %s=%q\n' GOFLAGS "$(GOFLAGS)" CGO_ENABLED "$(CGO_ENABLED)" CGO_CFLAGS "$(CGO_CFLAGS)" CGO_LDFLAGS "$(CGO_LDFLAGS)"

libnmstate: $(LIBNMSTATE)

LIBNMSTATE_SRC := backend/network/libnmstate
$(LIBNMSTATE): $(wildcard $(LIBNMSTATE_SRC)/Cargo.*) $(LIBNMSTATE_SRC)/src/lib.rs
	@mkdir -p $(@D)/include
	@$(PART) libnmstate "libnmstate" cargo build --quiet --release --locked --manifest-path $(LIBNMSTATE_SRC)/Cargo.toml --target-dir $(CACHE)/libnmstate/target -p nmstate-clib
	@sed -e 's/@_VERSION_MAJOR@/2/;s/@_VERSION_MINOR@/2/;s/@_VERSION_MICRO@/43/' \
	  "$$(cargo metadata --quiet --format-version 1 --locked --manifest-path $(LIBNMSTATE_SRC)/Cargo.toml | grep -o '"/[^"]*nmstate-clib-[0-9.]*/Cargo.toml"' | head -1 | tr -d '"' | xargs dirname)/nmstate.h.in" > $(@D)/include/nmstate.h
	@cp $(CACHE)/libnmstate/target/release/libnmstate.a $(@D)/libnmstate-rust.a
	@echo 'GROUP(libnmstate-rust.a -lm)' > $@ # a linker script: libm, which the library needs, must come behind it

# The lists of sources are written when they change, so that a file that is gone builds again, too.
.PHONY: always
$(CACHE)/GO.list $(CACHE)/BENCH.list: $(CACHE)/%.list: always
	@mkdir -p $(@D)
	@$($*_FIND) | LC_ALL=C sort | cmp -s - $@ || $($*_FIND) | LC_ALL=C sort >$@

# A program is as old as the beginning of its build: what is edited in the meantime is newer, and builds it again. The name of the file that
# keeps the time is a new one each time: another make may build the same.
BEGUN = begun=$$(mktemp $@.XXXXXX) &&
DATED = && touch -r $$begun $@; rc=$$?; rm -f $$begun; exit $$rc
$(BIN): $(GO_SRC) $(LIBNMSTATE) $(CACHE)/GO.list Makefile
	@mkdir -p $(@D)
	@$(BEGUN) $(PART) touchdown "touchdown $(VERSION)" go build $(STATIC) -o $@ ./cmd/touchdown $(DATED)

$(DEMO): $(FAULTS) $(shell find test/demo test/bench/landing test/bench/node test/bench/site test/bench/images -maxdepth 1 -name '*.go' 2>/dev/null) go.mod Makefile
	@mkdir -p $(@D)
	@$(PART) demo "the demo" go build -o $@ ./test/demo

$(BENCH): $(BENCH_SRC) $(CACHE)/BENCH.list Makefile
	@mkdir -p $(@D)
	@$(BEGUN) $(PART) controlplane "the bench's control plane: etcd, kube-apiserver $(KUBE_VERSION), stand-in operators" env CGO_ENABLED=0 go build -C test/bench/controlplane -ldflags "$(KUBE_LDFLAGS)" -o $(CURDIR)/$@ . $(DATED)

# The definitions of today's OpenShift and of the oldest that is supported.
$(CACHE)/bench/crds: $(BENCH)
	@$(BENCH) crds --to $@ && touch $@

$(CACHE)/bench/crds-4.14: $(BENCH)
	@$(BENCH) crds --older --to $@ && touch $@
