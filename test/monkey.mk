# Random keys on every screen. Goes on where it was stopped, for the same commit and seed; the count is in monkey.json.
.PHONY: monkey
monkey: libnmstate ## random keys, pastes and resizes on every screen; it continues (N=10000000 SEED=1, ROUND=n plays one again)
	@go run ./test/attack -name monkey -package ./tui -test TestMonkey -unit keys -each 100000 -n $(or $(N),10000000) \
	  -seed $(or $(SEED),1) -round $(or $(ROUND),-1) -kept $(CACHE)/bench/monkey.json $(if $(FRESH),-fresh)
