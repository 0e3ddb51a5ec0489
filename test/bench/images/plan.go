package images

import "fmt"

// The tree of layers: each level is shared by those above it, so that 60 images of 5 layers have 127 of them.
const (
	imageCount = 60
	deepLayers = 45 // of one more image: as many as make the mount options of an overlay long
)

// level is one floor of the tree: how many layers it has, and its share of all bytes and inodes, in tenths for each layer.
type level struct{ count, weight int }

func levels() []level { return []level{{3, 60}, {6, 30}, {12, 20}, {46, 5}, {imageCount, 5}} }

// layer is one that is to be made.
type layer struct {
	id     int
	level  int
	parent *layer
	seed   uint64
	bytes  int64
	inodes int

	made Layer
}

// image is one that is to be made.
type image struct {
	number int
	names  []string // without a host; an empty tag stands for a name by digest
	docker bool     // Docker's media types instead of OCI's
	multi  bool     // an index with one more platform
	layers []*layer // lowest first
}

// plan lays out all layers and images.
func plan(size Size, seed uint64) (layers []*layer, images []*image) {
	total := 0
	for _, l := range levels() {
		total += l.count * l.weight
	}
	add := func(level int, parent *layer, weight int) *layer {
		l := &layer{
			id: len(layers), level: level, parent: parent, seed: seed ^ uint64(len(layers)+1)*0x9e3779b97f4a7c15,
			bytes: size.Bytes * int64(weight) / int64(total), inodes: max(12, size.Inodes*weight/total),
		}
		layers = append(layers, l)
		return l
	}
	var below []*layer
	for n, floor := range levels() {
		var here []*layer
		for i := range floor.count {
			var parent *layer
			if n > 0 {
				parent = below[i%len(below)]
			}
			here = append(here, add(n, parent, floor.weight))
		}
		below = here
	}
	for i, top := range below {
		images = append(images, &image{number: i, names: names(i), docker: i%2 == 1 && i < 57, multi: i >= 57, layers: chain(top)})
	}
	deep := layers[levels()[0].count] // the first of the second floor
	for range deepLayers - 2 {
		deep = add(len(levels()), deep, 0)
	}
	return layers, append(images, &image{number: len(images), names: []string{DeepName}, layers: chain(deep)})
}

// DeepName is the repository and tag of the image with 45 layers.
const DeepName = "plant/deep:45"

func chain(top *layer) []*layer {
	if top == nil {
		return nil
	}
	return append(chain(top.parent), top)
}

// names are those of an image: half are a release's, all in one repository and without tags, as a cluster's own images are.
func names(number int) []string {
	switch {
	case number < 30:
		return []string{"openshift-release/art"}
	case number < 45:
		return []string{fmt.Sprintf("operators/op-%02d:v4.18", number)}
	case number < 57:
		return []string{fmt.Sprintf("plant/app-%02d:1.%d", number, number), fmt.Sprintf("plant/app-%02d:latest", number)}
	}
	return []string{fmt.Sprintf("multi/svc-%02d:2.0", number)}
}
