
# What OpenShift's login says about a password, as a program: library-go's own code.
VERDICT     := $(CACHE)/bench/bin/verdict
VERDICT_SRC := test/bench/login/verdict

.PHONY: bench-login
bench-login: $(VERDICT) ## build OpenShift's verdict on kubeadmin's password as a program (1 minute)

$(VERDICT): $(wildcard $(VERDICT_SRC)/*) test/bench/login/login.mk
	@mkdir -p $(@D)
	@$(PART) verdict "OpenShift's verdict on kubeadmin's password" env CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false" \
	  go build -C $(VERDICT_SRC) -ldflags "-s -w" -o $(CURDIR)/$@ .
