package media

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// TestAProblemKeepsItsLanguage: what the process without rights tells comes back as messages; what says something else than its message, or
// is too much, is English.
func TestAProblemKeepsItsLanguage(t *testing.T) {
	in := &problem.Problem{Code: "MED-XXX", Summary: message.F("The file %s is damaged.", "a"), Fix: message.T("Copy it again."), Err: message.Failed(message.T("it is empty"))}
	back := func(t *told) *problem.Problem {
		var out told
		data, err := json.Marshal(t)
		if err == nil {
			err = json.Unmarshal(data, &out)
		}
		if err != nil {
			return &problem.Problem{Err: err}
		}
		return out.problem()
	}
	if out := back(tellOf(in)); out.Summary != in.Summary || out.Fix != in.Fix || message.Detail(out.Err) != message.Detail(in.Err) {
		t.Errorf("%+v came back as %+v", in, out)
	}
	if out := back(tellOf(&problem.Problem{Code: "MED-XXX", Err: errors.New("EIO")})); message.Detail(out.Err) != message.Verbatim("EIO") {
		t.Errorf("the cause is %+v", out.Err)
	}
	for _, messages := range []string{
		`{"/summary": {"id": "Press Enter."}}`, `{"/summary": {"id": "The file %s is damaged.", "args": ["b"]}}`, `{"/summary": 1}`, `[`,
		`{"/summary": {"id": "The file %s is damaged.", "args": ["a"]}, "/x": {"id": "` + strings.Repeat("x", maxMessages) + `"}}`,
	} {
		hostile := &told{Summary: message.Data("The file a is damaged."), Messages: json.RawMessage(messages)}
		if out := hostile.problem(); out.Summary != message.Data("The file a is damaged.") {
			t.Errorf("%.80s made %+v", messages, out.Summary)
		}
	}
}
