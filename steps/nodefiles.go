package steps

import "touchdown/backend/nodeconfig"

// fileBringer has files of the node that the Machine Config Operator has to lay. NodeConfig takes them along: they are planned,
// written, rolled out and undone in its one batch.
type fileBringer interface {
	Step
	// NodeFiles may be called at any time, and returns nothing while nothing is asked for.
	NodeFiles() []nodeconfig.File
}

// withNodeFiles hands NodeConfig the steps before it in its list that bring files.
func withNodeFiles(stages []Stage) []Stage {
	var bringers []fileBringer
	for _, stage := range stages {
		for _, step := range stage.Steps {
			switch step := step.(type) {
			case fileBringer:
				bringers = append(bringers, step)
			case *NodeConfig:
				step.bringers = bringers
			}
		}
	}
	return stages
}

func (s *NodeConfig) files() (files []nodeconfig.File) {
	for _, b := range s.bringers {
		files = append(files, b.NodeFiles()...)
	}
	return files
}

// asked are the paths of the site config that the files are made of.
func (s *NodeConfig) asked() (paths []string) {
	for _, b := range s.bringers {
		for _, f := range FieldsOf(b) {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
