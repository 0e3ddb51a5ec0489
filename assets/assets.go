// Package assets holds templates and message texts that are built into the program; no logic.
package assets

import _ "embed"

// Report is the text/template of the hand-over report: 76 columns, plain ASCII.
//
//go:embed report.txt.tmpl
var Report string
