package steps_test

import (
	"errors"
	"syscall"
	"testing"

	"touchdown/backend/host/hosttest"
	"touchdown/backend/kube/kubetest"
	"touchdown/steps"
	"touchdown/steps/site"
)

// unreadable is a report whose originals and notes are there, on a disk that does not give them back.
type unreadable struct{ notes }

func (*unreadable) Saved(string) ([]byte, error) { return nil, syscall.EIO }
func (*unreadable) Noted(string) ([]byte, error) { return nil, syscall.EIO }

// TestUnreadableOriginalsEndTheUndo: an original that cannot be read is not taken for one that was never saved. An undo that ended
// well without it would leave the site's settings behind, and say that the factory's are back.
func TestUnreadableOriginalsEndTheUndo(t *testing.T) {
	byLook := map[string]bool{"local-names": true} // removes what it finds on the node, whatever was saved
	asked := 0
	for _, stage := range steps.Site(site.New(), steps.Wiring{NodeNet: &steps.NodeNetwork{}}) {
		for _, s := range stage.Steps {
			u, undoes := s.(steps.Undoer)
			if !undoes || byLook[s.ID()] {
				continue
			}
			asked++
			_, c := kubetest.New(t)
			n := node(hosttest.New(t), c)
			if err := u.Undo(t.Context(), n, &unreadable{}); !errors.Is(err, syscall.EIO) {
				t.Errorf("the undo of %s ends with %v", s.ID(), err)
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d steps undo", asked)
	}
}
