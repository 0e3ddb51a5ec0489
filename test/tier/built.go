package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
)

// builtProgram is what the tests run and lay onto nodes.
const builtProgram = ".cache/bin/touchdown"

// makeProgram builds the program if a source is newer, and tells which one it is. Make has built it before, but many minutes may have passed.
// Keys are made beforehand: what is edited from then on makes another key.
func makeProgram(ctx context.Context) (hash string, err error) {
	cmd := exec.CommandContext(ctx, "make", "-s", "build")
	cmd.Env = environment("MAKEFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return programHash()
}

func programHash() (string, error) {
	sum := sha256.New()
	if err := hashFile(sum, builtProgram, ""); err != nil {
		return "", fmt.Errorf("reading the program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
