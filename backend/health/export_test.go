package health

import "touchdown/test/wait"

func init() { alertsTime = wait.Timeout(alertsTime) } //nolint:gochecknoinits // for all tests: a busy machine answers late
