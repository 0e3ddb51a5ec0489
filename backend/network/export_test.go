package network

// The documents of the unit tests, for the tests on a booted node.
var (
	Harmful      = harmful
	SiteDocument = siteDocument
	WithRoute    = withRoute
)
