package steps

import (
	"touchdown/backend/images"
	"touchdown/backend/kube"
)

// withProgress returns the cluster, which reports its waits to the report.
func withProgress(c *kube.Cluster, report Report) *kube.Cluster {
	return c.WithProgress(func(p kube.Progress) {
		report.Progress(Progress{Done: p.Done, Total: p.Total, Unit: p.Unit, Waiting: p.Waiting, Usual: p.Usual.Seconds()})
	})
}

// forPeople has MiB in place of bytes.
func forPeople(p images.Progress) Progress {
	if p.Unit == "bytes" {
		p.Done, p.Total, p.Unit = p.Done>>20, p.Total>>20, "MiB"
	}
	return Progress{Done: p.Done, Total: p.Total, Unit: p.Unit, Waiting: p.What, Usual: p.Left.Seconds()}
}
