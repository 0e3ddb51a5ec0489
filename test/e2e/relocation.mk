# The whole of make bench has moves of a bench node in it, which need the factory's disk.
bench: bench-factory

.PHONY: bench-relocation
bench-relocation: bench-factory ## measure whole moves of a bench node, and leave .cache/bench/relocation.json (20 minutes)
	@mkdir -p $(CACHE)/bench
	go run ./test/measure $(if $(SMALL),-small) -only relocation -out $(CACHE)/bench
