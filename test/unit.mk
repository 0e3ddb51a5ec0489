# What a laptop can run: no root, no bench. What needs them is skipped, and counted in the last line.
.PHONY: unit
unit: libnmstate ## what needs neither root nor bench, the rest skipped and counted
	go run gotest.tools/gotestsum@v1.13.0 --format pkgname --format-hide-empty-pkg --hide-summary skipped -- ./...
