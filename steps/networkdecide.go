package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"touchdown/backend/message"
	"touchdown/backend/network"
	"touchdown/backend/problem"
	"touchdown/backend/progress"
)

// decide tells whether the settings stay: by the probes alone where the policy trusts them, else by a question.
func (s *networkTrial) decide(ctx context.Context, wrong doubts, report Report) (string, error) {
	if len(wrong) == 0 && s.site.Spec.Policy.KeepNetworkWhenProbesPass {
		return "keep", nil
	}
	if err := s.net.Extend(ctx, questionMore); err != nil {
		return "", err
	}
	ctx, stop := extending(ctx, s.net.Extend)
	defer stop()
	unanswered := "back"
	if s.site.Spec.Policy.KeepNetworkUnanswered {
		unanswered = "keep"
	}
	return report.Ask(ctx, Question{
		ID: "keep-network", Text: message.F("%s Keep the new network settings?", wrong.text()),
		Detail: message.T("Keeping them goes on with the new address. Putting them back returns to the old one, and you can fix your answers."),
		Choices: []Choice{
			{"keep", message.T("Keep the new settings")},
			{"back", message.T("Put the old ones back")},
			{"edit", message.T("Put the old ones back and fix the answers")},
		},
		Default: unanswered, Deadline: questionTime.Seconds(),
	})
}

// extending extends the checkpoint again and again until stop is called, which waits for the last call: someone who stops the countdown
// may take longer than the checkpoint lasts. So NetworkManager puts the old settings back soon after we died, and not before. The
// context that it returns ends when the checkpoint is gone, which protects nobody any more: then we put them back. It ends
// after questionLongest, too: an engine that hangs must not keep settings for ever that nobody decided on.
func extending(ctx context.Context, extend func(context.Context, time.Duration) error) (asking context.Context, stop func()) {
	asking, over := context.WithCancelCause(ctx)
	trial, cancel := context.WithTimeout(asking, questionLongest)
	var running sync.WaitGroup
	running.Go(func() {
		ticks := time.NewTicker(questionMore / 3)
		defer ticks.Stop()
		for {
			select {
			case <-trial.Done():
				over(errTooLong)
				return
			case <-ticks.C:
				if err := extend(trial, questionMore); err != nil && problem.From(err).Code == network.Late {
					over(err)
				}
			}
		}
	})
	return asking, func() { cancel(); running.Wait() }
}

var errTooLong = errors.New("the question about the network settings was open for too long")

// refuseTime limits a call that hangs. The timeouts of backend/network for putting settings back are shorter, in sum too.
const refuseTime = 10 * time.Minute

// refuse puts the old settings back and returns why. What failed with the new ones says nothing of the old ones.
func (s *networkTrial) refuse(ctx context.Context, report Report, why error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), refuseTime) // also when the work is being stopped
	defer stop()
	if err := s.putBackTrial(ctx, report); err != nil {
		return errors.Join(err, why)
	}
	return why
}

// putBackTrial puts back the settings before a trial that was not decided. It does nothing when there was none.
func (s *networkTrial) putBackTrial(ctx context.Context, report Report) error {
	if last, err := s.noted(report); last.State != trying {
		return err
	}
	before, ok, err := notedAt(report, "before")
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("putting the network settings back: %w", err)
	}
	report.Progress(progress.Progress{Waiting: message.T("the old network settings to come back"), Usual: 5})
	if err := s.net.PutBack(ctx, before); err != nil {
		return err
	}
	report.Say(message.T("the network settings that were not kept were put back"))
	return s.note(report, back)
}
