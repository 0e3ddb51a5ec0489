# The images of the bench, kept by a hash of what makes them. The small ones are for most tests; those of the benchmark
# are made by who measures.
IMAGES_SRC := test/bench/images
IMAGES_KEY  = $(call node_key,$(filter-out %_test.go,$(wildcard $(IMAGES_SRC)/*.go $(IMAGES_SRC)/make/*.go)) $(NODE_SRC)/pod/main.go)

.PHONY: bench-store bench-store-benchmark
bench-store: bench-images-small bench-images-test ## make the container images of the bench (100 MB and 2 GiB unpacked)

bench-store-benchmark: bench-images-benchmark ## make the container images of the benchmark (7 GB unpacked)

.PHONY: bench-images-small bench-images-test bench-images-benchmark
bench-images-small bench-images-test bench-images-benchmark: bench-images-%: $(CACHE)/bench/node/bin/pod
	@to=$(CACHE)/bench/images-$*-$(IMAGES_KEY); [ -d $$to ] || { echo "making the bench's images of size $*"; \
	  find $(CACHE)/bench -maxdepth 1 -name 'images-$*-*' -mmin +120 -exec rm -rf {} +; \
	  go run ./$(IMAGES_SRC)/make -size $* -program $< -out $$to; }; ln -sfn images-$*-$(IMAGES_KEY) $(CACHE)/bench/images-$*
