package proof

import "touchdown/assets"

// Page is the page that checks signed reports in a browser, as one HTML file.
func Page() string { return assets.ReportPage }

// Schema is the JSON schema of a report.
func Schema() string { return assets.ReportSchema }
