package steps

import "touchdown/backend/nodeconfig"

// fileBringer has files of the node that the Machine Config Operator has to lay. nodeConfig takes them along: they are planned,
// written, rolled out and undone in its one batch.
type fileBringer interface {
	Step
	// NodeFiles may be called at any time, and returns nothing while nothing is asked for.
	NodeFiles() []nodeconfig.File
}

// fileBringers are those of a list.
type fileBringers []fileBringer

func (all fileBringers) files() (files []nodeconfig.File) {
	for _, b := range all {
		files = append(files, b.NodeFiles()...)
	}
	return files
}

// asked are the paths of the site config that the files are made of.
func (all fileBringers) asked() (paths []string) {
	for _, b := range all {
		for _, f := range FieldsOf(b) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
