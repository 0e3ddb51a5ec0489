package cri

import "time"

// SetCallTime shortens the client's timeout.
func (c *Client) SetCallTime(d time.Duration) { c.callTime = d }

// Classify tells the class of an error.
var Classify = classify

// Queue is the order of a run.
type Queue struct{ *queue }

// NewQueue makes one.
func NewQueue(wants []Want) Queue { return Queue{newQueue(wants)} }

// Next begins the next image that can go.
func (q Queue) Next() (int, bool) { return q.next() }

// End ends one.
func (q Queue) End(i int, there bool) { q.end(i, there) }

// Limit is how long one try of a pull may take.
func Limit(size int64) time.Duration { return limit(size) }
