# Whole walks through the wizard as a person takes them: at the screen, at a serial line of 9600 baud, over IPMI.
.PHONY: walks bench-walk
walks: bench-factory e2e-tools ## whole walks at all three consoles (6 minutes, root)
	WALKS=all go test ./test/e2e/walk -run '^TestWalk$$' -count 1 -v -timeout 60m

bench-walk: bench-factory e2e-tools ## measure the same at 3 keys a second, and leave .cache/bench/walk.json and walk-*.txt
	@mkdir -p $(CACHE)/bench
	WALKS=all WALK_KEYS=3 WALK_OUT=$(CURDIR)/$(CACHE)/bench go test ./test/e2e/walk -run '^TestWalk$$' -count 1 -v -timeout 60m
