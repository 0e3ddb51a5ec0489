# Fuzz targets, random keys, damaged files and hostile media, a little of each, and one summary. Each part runs although another found something.
.PHONY: attack
attack: libnmstate ## fuzz, monkey, damage and media-attack, a little of each, with one summary (FUZZTIME=5s KEYS=1000000 DAMAGES=100 MEDIA=1000 SEED=1)
	@failed=; \
	$(MAKE) --no-print-directory fuzz FUZZTIME=$(or $(FUZZTIME),5s) || failed=1; \
	$(MAKE) --no-print-directory monkey N=$(or $(KEYS),1000000) || failed=1; \
	$(MAKE) --no-print-directory damage N=$(or $(DAMAGES),100) || failed=1; \
	$(MAKE) --no-print-directory media-attack N=$(or $(MEDIA),1000) || failed=1; \
	go run ./test/attack -summary $(CACHE)/bench && [ -z "$$failed" ]
