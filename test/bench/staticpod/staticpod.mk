# How OpenShift decides on roll-outs of kube-apiserver, as a program: library-go's own controllers of static pods.
STATICPODS     := $(CACHE)/bench/bin/staticpods
STATICPODS_SRC := test/bench/staticpod/operator

.PHONY: bench-staticpod
bench-staticpod: $(STATICPODS) ## build OpenShift's controllers of static pods as a program (2 minutes)

$(STATICPODS): $(wildcard $(STATICPODS_SRC)/*) test/bench/staticpod/staticpod.mk
	@mkdir -p $(@D)
	@$(PART) staticpods "OpenShift's controllers of static pods" env CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false" \
	  go build -C $(STATICPODS_SRC) -ldflags "-s -w" -o $(CURDIR)/$@ .
