// Package schema has the JSON schemas of what programs exchange with Touchdown: the site config and the events. The schema of a
// report is in backend/report/proof.
package schema

import _ "embed" // event.json

// Event is the JSON schema of an event (draft 2020-12).
//
//go:embed event.json
var Event string
