package main

import (
	"slices"
	"strings"
)

// inProcess are the arguments of `go test` that run the packages of CI's tier whose tests boot no node, without the tests
// that only the whole tier has. `make cover` measures with them.
func inProcess(rows []Row) []string {
	var skip, packages []string
	for _, r := range rows {
		boots := slices.ContainsFunc(rows, func(o Row) bool { return o.Package == r.Package && o.Boots })
		switch {
		case r.Make != "" || boots:
		case r.Tier != Test && r.Run != "":
			skip = append(skip, r.Run)
		case r.Tier == Test && !slices.Contains(packages, "./"+r.Package):
			packages = append(packages, "./"+r.Package)
		}
	}
	return append([]string{"-skip=^(" + strings.Join(skip, "|") + ")$"}, packages...)
}
