// Package patience says how long a test waits for what has to come.
//
// A test names the time that an idle machine needs; what it waits for at most is many times that, because the same test
// also runs beside others on two busy processors. A test that passes never waits for the end of it, so patience costs
// nothing; how fast something is, is measured by benchmarks.
package patience

import "time"

// Of is how long to wait at most for what an idle machine does within the given time.
func Of(idle time.Duration) time.Duration { return 5*idle + 30*time.Second }
