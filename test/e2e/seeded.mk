# Kills and power cuts while a seeded node's image store is being changed, with CRI-O starting after each.
.PHONY: crash-images bad-images
crash-images: build bench-factory bench-images-small ## power cuts and kills while the image store changes (N=200 SEED=7)
	CRASH_N=$(or $(N),200) CRASH_SEED=$(or $(SEED),7) go test ./test/e2e/seeded -run '^TestCrash$$' -count 1 -v -timeout 6h

bad-images: build bench-factory bench-images-small ## bad input of the image store
	go test ./test/e2e/seeded -run '^TestBadInput$$' -count 1 -v -timeout 30m
