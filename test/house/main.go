// Command house prints the measures of the product's code: how long files and functions are, how much a package exports, how
// many methods a type has, and what stands twice. Its test holds them to limits.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	most := flag.Int("most", 5, "how many of the largest are named")
	flag.Parse()
	h, err := measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	row := func(what string, all []sized, limit [3]int) {
		s := spread(all)
		fmt.Printf("%-22s %5d   median %3d  90 %% %3d  most %3d   limits %d/%d/%d\n", what, len(all), s[0], s[1], s[2], limit[0], limit[1], limit[2])
	}
	row("files, lines", h.Files, fileLimit)
	row("functions, lines", h.Functions, functionLimit)
	named := func(what string, all []sized) {
		fmt.Printf("\n%s\n", what)
		for _, s := range all[:min(*most, len(all))] {
			fmt.Printf("  %4d  %s\n", s.Size, s.Where)
		}
	}
	named("longest files", h.Files)
	named("longest functions", h.Functions)
	named(fmt.Sprintf("exported names of a package (limit %d, exceptions in limits.go)", exportedLimit), h.Exported)
	named(fmt.Sprintf("methods of a type (limit %d, exceptions in limits.go)", methodLimit), h.Methods)
	named(fmt.Sprintf("%d pairs of files share %d lines or more of one shape (limit %d); the longest", len(h.Twins), window, twinLimit), h.Twins)
}
