package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

var (
	top     = regexp.MustCompile(`(?m)^--- (PASS|FAIL): `)
	skipped = regexp.MustCompile(`(?m)^\s*--- SKIP: (\S+)`)
)

// count tells how many tests ran, subtests left out, and which were skipped, subtests too.
func count(output string) (ran int, left []string) {
	for _, m := range skipped.FindAllStringSubmatch(output, -1) {
		left = append(left, m[1])
	}
	return len(top.FindAllString(output, -1)), left
}

func end(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// summary is the last line, in a form that programs read too.
func summary(results []Result, rows int) error {
	passed, failed, skipped := 0, []string(nil), 0
	for _, r := range results {
		skipped += len(r.Skipped)
		if r.Passed {
			passed++
		} else {
			failed = append(failed, r.Row)
		}
	}
	for _, name := range failed {
		fmt.Println("failed:", name)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, len(failed), skipped)
	if len(failed) > 0 || passed < rows {
		return fmt.Errorf("%d of %d did not pass", rows-passed, rows)
	}
	return nil
}
