package cri

import "time"

// SetCallTime makes the client less patient.
func (c *Client) SetCallTime(d time.Duration) { c.callTime = d }

// Classify tells the class of an error.
var Classify = classify
