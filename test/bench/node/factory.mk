# The factory's node: the installed one, baked and armed by touchdown itself, switched off in order. Its disk is kept by a
# hash of the bake, and made where a test needs it; this makes it beforehand.
.PHONY: bench-factory
bench-factory: bench-node build ## build the baked, armed node that is to be landed
	@CI=true go test ./test/bench/node -run '^TestFactoryIsPrepared$$' -count 1 -timeout 75m
