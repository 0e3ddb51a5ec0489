// Package images holds what the image store rests on against a real CRI-O on a booted node: each fact is seen, not read.
package images
