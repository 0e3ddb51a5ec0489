package event_test

import (
	"encoding/json"
	"errors"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/event"
)

// TestACauseOfAnEarlierRelease: its journal has the cause as English without a message, which every other language calls a technical one.
// What this release writes comes back as it was.
func TestACauseOfAnEarlierRelease(t *testing.T) {
	for cause, want := range map[string]message.Text{`"EIO"`: message.Verbatim("EIO"), `""`: {}} {
		var e event.Event
		err := json.Unmarshal([]byte(`{"kind": "failed", "problem": {"code": "RLT-DNS", "summary": "s", "fix": "f", "detail": `+cause+`}}`), &e)
		if err != nil || e.Problem.Detail != want || e.Problem.Summary != message.Data("s") {
			t.Errorf("%s is %+v, %v", cause, e.Problem, err)
		}
	}
	for _, cause := range []error{nil, errors.New("EIO"), message.Failed(message.T("it is missing")), &problem.Problem{Code: "A-B", Summary: message.T("The disk is full."), Err: errors.New("EIO")}} {
		in := event.Event{Kind: event.Failed, Problem: event.TroubleOf(&problem.Problem{Code: "RLT-DNS", Summary: message.T("The disk is full."), Err: cause})}
		data, err := json.Marshal(in)
		var out event.Event
		if err != nil || json.Unmarshal(data, &out) != nil || out.Problem.Detail != in.Problem.Detail {
			t.Errorf("%v: %+v, %+v, %v", cause, in.Problem, out.Problem, err)
		}
	}
}
