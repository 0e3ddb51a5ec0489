.PHONY: wrong
wrong: bench-factory ## wrong network settings on a booted node, with cuts in between (N=100 SEED=7)
	WRONG_N=$(or $(N),100) WRONG_SEED=$(or $(SEED),7) go test ./test/e2e -run '^TestWrongSettings$$' -count 1 -v -timeout 90m
