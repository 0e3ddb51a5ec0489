# What a release consists of (README.md beside this file). Its bytes depend on the commit alone: no paths, no times but that of the
# commit, no build id, names in order.
RELEASE := $(CACHE)/release
STAGE   := $(CACHE)/release-stage
NFPM    := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0

# SPDX and RPM ask for a time.
EPOCH = $(shell git log -1 --format=%ct)
# An RPM's version has no "-": v1.2-3-gabc is 1.2^3^gabc, which sorts behind 1.2. Without a tag it sorts before all others.
RPM_VERSION = $(if $(filter v%,$(VERSION)),$(subst -,^,$(VERSION:v%=%)),0^$(subst -,^,$(VERSION)))

# What the provenance says: who made it (a CI names itself by a URI), and with which tools.
PROVENANCE := go run ./cmd/provenance
BUILDER    ?= https://touchdown.dev/builders/make
TOOLS       = go=$(shell go env GOVERSION | sed s/^go//),rustc=$(word 2,$(shell rustc --version)),gcc=$(shell gcc -dumpfullversion),nfpm=$(lastword $(subst @v, ,$(NFPM)))

.PHONY: release
release: build ## the files of a release in .cache/release, built twice and compared (KEY=file: signed; from touchdown media keygen --release; RPM_KEY=file: an OpenPGP key for the RPM)
	@[ -z "$(KEY)" ] || grep -qx 'Touchdown key for releases' "$(KEY)" || { echo "KEY=$(KEY) is not a key for releases, and no node takes what it signs: touchdown media keygen --release NAME makes NAME.key"; exit 1; }
	@[ -z "$(KEY)" ] || openssl pkey -in "$(KEY)" -noout || { echo "KEY=$(KEY) is not a private key that openssl can read"; exit 1; }
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)/manifests $(RELEASE)/schemas $(RELEASE)/man $(RELEASE)/completions
	@echo "building touchdown $(VERSION) twice"
	@for n in 1 2; do go build $(subst -s -w,-s -w -buildid=,$(STATIC)) -o $(RELEASE)/touchdown.$$n ./cmd/touchdown || exit 1; done
	@cmp $(RELEASE)/touchdown.1 $(RELEASE)/touchdown.2
	@rm $(RELEASE)/touchdown.2 && mv $(RELEASE)/touchdown.1 $(RELEASE)/touchdown
	@$(RELEASE)/touchdown factory bake --out $(RELEASE)/manifests >/dev/null
	@$(RELEASE)/touchdown site schema > $(RELEASE)/schemas/site.schema.json
	@$(RELEASE)/touchdown events schema > $(RELEASE)/schemas/event.schema.json
	@$(RELEASE)/touchdown report schema > $(RELEASE)/schemas/report.schema.json
	@$(RELEASE)/touchdown completion bash > $(RELEASE)/completions/touchdown.bash
	@$(RELEASE)/touchdown completion zsh > $(RELEASE)/completions/_touchdown
	@$(RELEASE)/touchdown completion fish > $(RELEASE)/completions/touchdown.fish
	@go test ./cmd/touchdown -count=1 -run '^TestManPages$$' -man $(CURDIR)/$(RELEASE)/man >/dev/null
	@go run ./cmd/sbom -program $(RELEASE)/touchdown -lock $(LIBNMSTATE_SRC)/Cargo.lock -version "$(VERSION)" -epoch $(EPOCH) > $(RELEASE)/touchdown.spdx.json
	@tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C iso-overlay -cf - . | gzip -n > $(RELEASE)/iso-overlay.tar.gz
	@$(MAKE) --no-print-directory release-rpm
	@$(PROVENANCE) -folder $(RELEASE) -version "$(VERSION)" -commit "$$(git rev-parse HEAD)" -builder "$(BUILDER)" -tools "$(TOOLS)" > $(STAGE).provenance.json
	@[ -z "$(KEY)" ] || { $(PROVENANCE) -pae $(STAGE).provenance.json > $(STAGE).pae && \
	  openssl pkeyutl -sign -rawin -inkey "$(KEY)" -in $(STAGE).pae -out $(STAGE).sig && \
	  $(PROVENANCE) -statement $(STAGE).provenance.json -signature $(STAGE).sig -key "$$(openssl pkey -in "$(KEY)" -pubout -outform DER | base64 -w0)" > $(RELEASE)/touchdown.intoto.jsonl; }
	@mv $(STAGE).provenance.json $(RELEASE)/touchdown.provenance.json && rm -f $(STAGE).pae $(STAGE).sig
	@cd $(RELEASE) && find . -type f ! -name 'SHA256SUMS*' -printf '%P\n' | LC_ALL=C sort | xargs sha256sum > SHA256SUMS && cat SHA256SUMS
	@[ -z "$(KEY)" ] || { openssl pkeyutl -sign -rawin -inkey "$(KEY)" -in $(RELEASE)/SHA256SUMS -out $(RELEASE)/SHA256SUMS.sig && echo "SHA256SUMS.sig is signed with $(KEY)"; }

# The package is made twice from files with other times, and compared. The program and its script lie where packages may put them,
# so the units name these places. A signature has a time in it, so that the signed package is made from what was compared, behind it.
STAGED_RPM = rm -rf $(STAGE) && mkdir -p $(STAGE)/units && cp iso-overlay/usr/local/bin/touchdown-line $(STAGE) && \
  for unit in touchdown-engine touchdown-consoles touchdown-console@ touchdown-login@ touchdown-keyboard@; do \
    sed -e 's|/usr/local/bin/touchdown-line|/usr/libexec/touchdown/touchdown-line|g' -e 's|/usr/local/bin/touchdown|/usr/bin/touchdown|g' \
      iso-overlay/etc/systemd/system/$$unit.service > $(STAGE)/units/$$unit.service || exit 1; \
  done && ! grep -l /usr/local/bin $(STAGE)/units/*
MADE_RPM   = STAGE=$(STAGE) RELEASE=$(RELEASE) RPM_VERSION='$(RPM_VERSION)' SOURCE_DATE_EPOCH=$(EPOCH) GOFLAGS= CGO_ENABLED=0 \
  go run $(NFPM) package -f assets/release/nfpm.yaml -p rpm >/dev/null -t

.PHONY: release-rpm
release-rpm:
	@for n in 1 2; do $(STAGED_RPM) && RPM_KEY= $(MADE_RPM) $(STAGE).$$n.rpm || exit 1; done
	@cmp $(STAGE).1.rpm $(STAGE).2.rpm
	@[ -z "$(RPM_KEY)" ] || RPM_KEY="$(RPM_KEY)" $(MADE_RPM) $(STAGE).1.rpm
	@mv $(STAGE).1.rpm $(RELEASE)/touchdown.x86_64.rpm && rm -rf $(STAGE).2.rpm $(STAGE)
