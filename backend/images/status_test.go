package images

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/message"
)

func well() Status {
	return Status{
		Looked: time.Unix(1_800_000_000, 0), Generation: 3, Images: 61, Layers: 170, Bytes: 3 << 30, Listed: 61, Mounted: true, Named: true,
	}
}

func TestStatusSaysTheWorst(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Status)
		notice string // "" for none
		id     string
		status check.Status
	}{
		"well":         {func(*Status) {}, "", "images-store", check.Pass},
		"never seeded": {func(s *Status) { *s = Status{} }, "", "images-store", check.Warn},
		"not mounted":  {func(s *Status) { s.Mounted = false }, "it is not in its place", "images-store", check.Fail},
		"not named":    {func(s *Status) { s.Named = false }, "CRI-O is not told of it", "images-store", check.Fail},
		"unlisted":     {func(s *Status) { s.Unlisted = []string{"a:1", "b:1"} }, "2 images are not seen by CRI-O, first a:1", "images-listed", check.Fail},
		"damaged":      {func(s *Status) { s.Damage = []message.Text{message.Data("overlay/x/diff/y: is missing")} }, "1 damage found, first overlay/x", "images-whole", check.Fail},
		"repaired":     {func(s *Status) { s.Repaired = []message.Text{message.Data("overlay/x")} }, "repaired automatically", "images-whole", check.Warn},
		"no answer":    {func(s *Status) { s.Trouble = message.T("CRI-O does not answer") }, "CRI-O does not answer", "images-store", check.Fail},
	} {
		s := well()
		c.change(&s)
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := machine(t, map[string]string{statusFile: string(data)})
		got := strings.Join(message.English(Notices(m)), "\n")
		if c.notice == "" && got != "" || !strings.Contains(got, c.notice) {
			t.Errorf("%s: every screen says %q, want %q", name, got, c.notice)
		}
		found := false
		for _, ch := range s.Checks() {
			found = found || ch.ID == c.id && ch.Status == c.status
			if ch.Status != check.Pass && ch.Fix.String() == "" {
				t.Errorf("%s: %s says no way on", name, ch.ID)
			}
		}
		if !found {
			t.Errorf("%s: no %s of %s in %+v", name, c.status, c.id, s.Checks())
		}
		if s.Well() != (name == "well" || name == "repaired") {
			t.Errorf("%s: well is %v", name, s.Well())
		}
	}
}

func TestSizesAreReadable(t *testing.T) {
	for n, want := range map[int64]string{0: "0 MiB", 1: "1 MiB", 90 << 20: "90 MiB", 1<<30 - 1: "1024 MiB", 1 << 30: "1.0 GiB", 7<<30 + 1<<29: "7.5 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d bytes are told as %s, want %s", n, got, want)
		}
	}
	s := well()
	s.Bytes = 90 << 20
	if got := s.Checks()[0].Observed; got.String() != "61 images, 170 layers, 90 MiB" {
		t.Errorf("a small store is told as %q", got)
	}
}

func TestStatusThatCannotBeReadIsTold(t *testing.T) {
	m, _ := machine(t, map[string]string{statusFile: "{"})
	if got := Notices(m); len(got) != 1 || !strings.Contains(got[0].String(), "touchdown images verify") {
		t.Errorf("%q", got)
	}
	m, _ = machine(t, nil)
	if got := Notices(m); got != nil {
		t.Errorf("nobody ever looked, and the screens say %q", got)
	}
}
