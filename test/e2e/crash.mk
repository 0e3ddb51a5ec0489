# Power cuts and kills on a booted node, N in all and several in each landing; those that find the job not begun, or ended, are counted
# apart. Before them the engine alone on a laptop's bench, killed in fewer landings, and the mutant that syncs nothing. The landings go on
# where they were stopped, by seed, until something that they rest on changes; a larger N adds landings. One that went wrong is kept and
# fails each later run (FRESH=1 begins its seed again). CI=true: a machine that cannot run them fails.
.PHONY: crash cuts
crash: bench-factory ## power cuts and kills at event boundaries and random moments of landings; it continues (N=200 SEED=7, FRESH=1 begins again)
	CI=true CRASH_N=10 CRASH_SEED=$(or $(SEED),7) go test ./cmd/touchdown -run '^TestCrash' -count 1 -timeout 20m
	of=$$($(TIER) -key test/e2e) && \
	CI=true CRASH_N=$(or $(N),200) CRASH_SEED=$(or $(SEED),7) CRASH_KEEP=$(CURDIR)/$(CACHE)/bench/crash.json CRASH_OF=$$of \
	  go test ./test/e2e -run '^TestCrash' -count 1 -v -timeout 6h

# Kept in the same way, in cuts.json.
cuts: bench-factory ## power cuts alone, in whole landings; it continues (N=1000 SEED=7, FRESH=1 begins again)
	of=$$($(TIER) -key test/e2e) && \
	CI=true CRASH_CUTS=yes CRASH_N=$(or $(N),1000) CRASH_SEED=$(or $(SEED),7) CRASH_KEEP=$(CURDIR)/$(CACHE)/bench/cuts.json CRASH_OF=$$of \
	  go test ./test/e2e -run '^TestCrash$$' -count 1 -v -timeout 12h
