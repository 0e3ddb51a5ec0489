# A finding is kept below the package's testdata by the go command, and is a test from then on: fix it and commit both.
.PHONY: fuzz
fuzz: libnmstate ## every fuzz target of the tree, one after the other (FUZZTIME=60s each, FUZZ=regexp, FRESH=1 runs all again)
	@go run ./test/fuzz -time $(or $(FUZZTIME),60s) -run '$(FUZZ)' -kept $(CACHE)/bench/fuzz.json $(if $(FRESH),-fresh)
