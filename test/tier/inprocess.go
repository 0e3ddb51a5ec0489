package main

import (
	"slices"
	"strings"
)

// inProcess are the arguments of `go test` that run the rows of CI's tier that boot no node. `make cover` measures with them. A package is left
// out where what has no row of its own boots one.
func inProcess(rows []Row) []string {
	var skip, packages []string
	for _, r := range rows {
		boots := slices.ContainsFunc(rows, func(o Row) bool { return o.Package == r.Package && o.Run == "" && o.Boots })
		switch {
		case r.Make != "" || boots:
		case r.Run != "" && (r.Tier != Test || r.Boots):
			skip = append(skip, r.Run)
		case r.Tier == Test && !slices.Contains(packages, "./"+r.Package):
			packages = append(packages, "./"+r.Package)
		}
	}
	return append([]string{"-skip=^(" + strings.Join(skip, "|") + ")$"}, packages...)
}
