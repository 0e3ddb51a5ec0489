package health

import "touchdown/test/wait"

func init() { alertsTime = wait.Timeout(alertsTime) }
