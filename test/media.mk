# How long a thousand site media take. The limit of the issue is 60 s for each format.
.PHONY: bench-media
bench-media: libnmstate ## measure 1,000 site media from one table, of each format
	go test ./cmd/touchdown -run '^$$' -bench ThousandMedia -benchtime 1x

# Hostile volumes and documents. Goes on where it was stopped, for the same commit and seed; the count is in media-attack.json.
.PHONY: media-attack
media-attack: libnmstate ## hostile sticks, tried as a node tries them; it continues (N=10000 SEED=1, ROUND=n plays one again)
	@go run ./test/attack -name media-attack -package ./backend/media -test TestMedia -unit volumes -each 100 -n $(or $(N),10000) \
	  -seed $(or $(SEED),1) -round $(or $(ROUND),-1) -kept $(CACHE)/bench/media-attack.json $(if $(FRESH),-fresh)
