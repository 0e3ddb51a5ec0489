# Power cuts and kills on a booted node, N in all and several in each landing; before them the engine alone on a laptop's
# bench, killed in fewer landings, and the mutant that syncs nothing.
.PHONY: crash
crash: bench-factory ## power cuts and kills at event boundaries and random moments of landings (N=200 SEED=7)
	CRASH_N=10 CRASH_SEED=$(or $(SEED),7) go test ./cmd/touchdown -run '^TestCrash' -count 1 -timeout 20m
	CRASH_N=$(or $(N),200) CRASH_SEED=$(or $(SEED),7) go test ./test/e2e -run '^TestCrash' -count 1 -v -timeout 6h
