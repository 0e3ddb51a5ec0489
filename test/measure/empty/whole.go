//go:build whole

package main

import (
	_ "touchdown/backend/factory"
	_ "touchdown/backend/support"
	_ "touchdown/steps"
	_ "touchdown/steps/engine"
	_ "touchdown/steps/wire"
	_ "touchdown/tui"
)
