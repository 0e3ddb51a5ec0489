# The measures of the product's code; its test holds them to the limits of test/house/limits.go.
.PHONY: house
house: ## print how long files and functions are, what packages export, how many methods types have, what stands twice
	@go run ./test/house
