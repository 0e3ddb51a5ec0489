package steps

// BurnIn is the step for tests outside the package.
type BurnIn = burnIn
