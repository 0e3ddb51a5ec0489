package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/host"
	"touchdown/backend/images/cri"
	"touchdown/backend/images/layerstore"
	"touchdown/backend/message"
	"touchdown/backend/problem"
)

var (
	moveFile  = state("move")       // asks the next boot for it; holds the id of the boot in which it was asked
	movedFile = state("moved.json") // what came of it
)

// Moved is what came of the last move, on disk because it happens before anybody could be told.
type Moved struct {
	Boot       string       `json:"boot"` // id of the boot that moved
	Generation int          `json:"generation,omitempty"`
	Images     int          `json:"images,omitempty"` // in the store afterwards
	Layers     int          `json:"layers,omitempty"` // in the store afterwards
	Seconds    float64      `json:"seconds"`          // by which CRI-O's start waited
	Failed     message.Text `json:"failed,omitzero"`  // why the images stayed where they were
}

// AskMove lets the next boot move CRI-O's images into the store instead of copying them. CRI-O has to be told of the store
// by then, or it would not find them.
func AskMove(m *host.Machine) error {
	if !seeded(m) {
		return &problem.Problem{
			Code: "CTR-LACK", Summary: message.T("There is no image store that images could be moved to."), Fix: message.T("Run `touchdown images seed` first."),
		}
	}
	boot, err := m.BootID()
	if err != nil {
		return fmt.Errorf("reading the boot's id: %w", err)
	}
	if err := m.Remove(movedFile); err != nil {
		return fmt.Errorf("forgetting the last move: %w", err)
	}
	if err := m.WriteFile(moveFile, []byte(boot+"\n"), 0o600); err != nil {
		return fmt.Errorf("asking for the move: %w", err)
	}
	return nil
}

// MoveAsked tells whether the next boot moves.
func MoveAsked(m *host.Machine) bool { return m.Exists(moveFile) }

// ForgetMove takes the wish back.
func ForgetMove(m *host.Machine) error {
	if err := m.Remove(moveFile); err != nil {
		return fmt.Errorf("forgetting the move: %w", err)
	}
	return nil
}

// LoadMoved returns what came of the last move; fs.ErrNotExist when there was none.
func LoadMoved(m *host.Machine) (Moved, error) {
	var done Moved
	data, err := m.ReadFile(movedFile)
	if err != nil {
		return done, fmt.Errorf("reading the last move: %w", err)
	}
	if err := message.Unmarshal(data, &done); err != nil {
		return done, fmt.Errorf("reading %s: %w", movedFile, err)
	}
	return done, nil
}

func (d Moved) save(m *host.Machine) error {
	data, err := message.Marshal(&d)
	if err != nil {
		return fmt.Errorf("encoding the move: %w", err)
	}
	if err := m.WriteFile(movedFile, data, 0o600); err != nil {
		return fmt.Errorf("keeping the move: %w", err)
	}
	return nil
}

// move does what was asked for in an earlier boot. The next boot finishes it after a power cut, which then finds the wish
// still there and nothing left to do; a failure takes the wish away, so that no boot is spent on it twice.
func move(ctx context.Context, m *host.Machine) error {
	data, err := m.ReadFile(moveFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	boot, bootErr := m.BootID()
	asked := strings.TrimSpace(string(data))
	if err = errors.Join(err, bootErr); err != nil || asked == boot {
		return err
	}
	begun := time.Now()
	g, err := moveAll(ctx, m, asked)
	done := Moved{Boot: boot, Generation: g.N, Images: len(g.Images), Layers: len(g.Layers), Seconds: time.Since(begun).Seconds()}
	done.Failed = message.Detail(err)
	if p, known := errors.AsType[*problem.Problem](err); known {
		done.Failed = p.Summary
	}
	return errors.Join(err, done.save(m), ForgetMove(m))
}

// moveAll moves all images, unless CRI-O would not see them any more or is at work already.
func moveAll(ctx context.Context, m *host.Machine, asked string) (layerstore.Generation, error) {
	switch now, _ := m.ReadFile(repairFile); {
	case m.Exists(cri.Socket):
		return layerstore.Generation{}, message.Failed(message.T("CRI-O has been started already"))
	case !named(m):
		return layerstore.Generation{}, message.Failed(message.T("CRI-O is not told of the store: storage.conf does not name it"))
	case string(now) != repairOff:
		return layerstore.Generation{}, message.Failed(message.F("CRI-O would empty its own store after a loss of power: %s is not as it was", repairFile))
	}
	p, err := layerstore.Open(m.Path(StoreDir))
	if err != nil {
		return layerstore.Generation{}, message.Doing(message.T("opening the image store"), err)
	}
	// The boot that begins now is the first with the new generation: when it went well, the one before is not needed any more.
	if err := noteSwitchIn(m, asked); err != nil {
		return layerstore.Generation{}, err
	}
	g, err := p.Move(ctx, m.Path(Primary), layerstore.Selection{})
	if err != nil {
		return g, message.Doing(message.T("moving the images"), err)
	}
	return g, nil
}

// Check is the move in the form that screens and reports show.
func (d Moved) Check() check.Check {
	c := check.Check{
		ID: "images-moved", Title: message.T("Images moved into the store"), Status: check.Pass, Expected: message.T("CRI-O's own store holds no second copy"),
		Observed: message.F("%s, %s, in %.2f s before CRI-O's start", message.N(d.Images, "%d image", "%d images"), message.N(d.Layers, "%d layer", "%d layers"), d.Seconds),
		Source:   message.T("boot that the move was asked for"),
	}
	if d.Failed != (message.Text{}) {
		c.Status, c.Observed = check.Warn, message.F("not done: %s", d.Failed)
		c.Fix = message.T("Nothing is lost: run `touchdown images seed` to copy them, or the move again.")
	}
	return c
}
