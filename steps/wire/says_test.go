package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"touchdown/backend/message"
	"touchdown/backend/problem"
	"touchdown/steps/session"
	"touchdown/steps/site"
)

// TestErrorsKeepTheirMessages sends errors over the wire: a console in another language reads what a local one does.
func TestErrorsKeepTheirMessages(t *testing.T) {
	says := func(err error) message.Text {
		e, _ := errors.AsType[interface {
			error
			Says() message.Text
		}](err)
		return e.Says()
	}
	over := func(err error) error {
		w, status := toWire(err)
		body, bad := json.Marshal(w)
		if bad != nil {
			t.Fatal(bad)
		}
		return fromWire(status, body)
	}
	refused := fmt.Errorf("%w: %w", session.ErrInvalid, &site.Error{Path: "spec.network.vlanID", Msg: message.F("is %s, outside of %d to %d", "5000", 1, 4094), Fix: message.T("write digits only")})
	want := message.F("%s; %s", message.F("is %s, outside of %d to %d", "5000", 1, 4094), message.T("write digits only"))
	for _, err := range []error{refused, over(refused)} {
		if got := says(err); got != want || !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%v says %+v", err, got)
		}
	}
	if got := says(over(fmt.Errorf("%w: nobody", session.ErrNotFound))); got != (message.Text{}) {
		t.Errorf("an error without a mistake says %+v", got)
	}
	stuck := &problem.Problem{Code: "LED", Summary: message.F("The driver of %s cannot blink its LED.", "eno1"), Fix: message.T("Retry.")}
	got, ok := errors.AsType[*problem.Problem](over(stuck))
	if !ok || got.Summary != stuck.Summary || got.Fix != stuck.Fix {
		t.Errorf("the problem became %+v", got)
	}
}
