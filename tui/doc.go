// Package tui is the console: it draws what an engine's session tells and passes on what a person types. It is safe
// on serial lines: nothing waits for an answer of the terminal, and only a few old control sequences leave it.
package tui
