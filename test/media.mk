# How long a thousand site media take. The limit of the issue is 60 s for each format.
.PHONY: bench-media
bench-media: libnmstate ## measure 1,000 site media from one table, of each format
	go test ./cmd/touchdown -run '^$$' -bench ThousandMedia -benchtime 1x
