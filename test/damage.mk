# Damage to every file of the state folder at random points of a job. Goes on where it was stopped, for the same commit and
# seed; the count is in damage.json.
.PHONY: damage
damage: libnmstate ## damage to the engine's files at random points of a job; it continues (N=1000 SEED=1, ROUND=n plays one again)
	@go run ./test/attack -name damage -package ./steps/engine -test TestDamage -unit damages -n $(or $(N),1000) \
	  -seed $(or $(SEED),1) -round $(or $(ROUND),-1) -kept $(CACHE)/bench/damage.json $(if $(FRESH),-fresh)
