package tui
import ("testing";"os";"maps";"slices";"strings")
func TestGenFix(t *testing.T){ c:=failures(t); var b strings.Builder
for _,k:=range slices.Sorted(maps.Keys(c)){ b.WriteString(k+"\n"+strings.Join(c[k],"\n")+"\n\n") }
os.WriteFile("/tmp/t/ca-fix.txt",[]byte(b.String()),0o644)}
