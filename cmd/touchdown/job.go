package main

import (
	"touchdown/backend/report"
	"touchdown/steps/engine"
)

// jobOf is what the engine knows of the job, in the words of the report.
func jobOf(s *engine.Snapshot) report.Job {
	job := report.Job{
		Version: s.Version, Serial: s.Serial, Hostname: s.Hostname, Started: s.Started,
		Warnings: s.Notices, Problems: s.Met,
	}
	for _, stage := range s.Stages {
		for _, step := range stage.Steps {
			js := report.JobStep{Step: report.Step{ID: step.ID, Title: step.Title, Seconds: step.Seconds}, Checks: step.Checks}
			if step.Status == engine.StepDone || step.Status == engine.StepSkip || step.Status == engine.StepFailed {
				js.Outcome = string(step.Status)
			}
			job.Steps = append(job.Steps, js)
		}
	}
	return job
}
