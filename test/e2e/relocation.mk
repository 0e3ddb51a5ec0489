# The whole of make bench has moves of a bench node in it, which need the factory's disk.
bench: bench-factory

.PHONY: bench-relocation faults
bench-relocation: bench-factory ## measure whole moves of a bench node, and leave .cache/bench/relocation.json (20 minutes)
	@mkdir -p $(CACHE)/bench
	go run ./test/measure -only relocation -out $(CACHE)/bench

faults: bench-factory ## faults on the way of a bench node, also those that make test leaves out (20 minutes)
	FAULTS=1 CI=true go test ./test/e2e -run 'TestALifeOnTheNode|TestFaultsOnTheWay|TestAnAPIThatNeverComes|TestNetworkFaults|TestNoLeaseAtBoot|TestBrExHangs' -count 1 -v -timeout 60m
