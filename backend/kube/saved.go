package kube

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"touchdown/backend/message"
	"touchdown/backend/problem"
)

// savedFormat is the version of the saved originals. It only rises; old versions stay readable.
const savedFormat = 1

// Save keeps the original of an object on disk before it returns. What it is handed may hold secrets.
type Save func(ref Ref, original []byte) error

// saved is an original: one part of an object before and after our change, or a whole object that was deleted.
type saved struct {
	Format   int            `json:"format"`
	Ref      Ref            `json:"ref"`
	Part     string         `json:"part,omitempty"`     // the changed field at the top: "spec", "data"
	Existed  bool           `json:"existed"`            // false: we created the object
	Had      bool           `json:"had,omitempty"`      // the object had that part
	Original map[string]any `json:"original,omitempty"` // the part as it was
	Ours     map[string]any `json:"ours,omitempty"`     // the part as we wrote it
	Manifest map[string]any `json:"manifest,omitempty"` // the whole object, when it was to be deleted
	UID      types.UID      `json:"uid,omitempty"`      // of that object: one that has it was not deleted yet
	Mark     *savedMark     `json:"mark,omitempty"`     // the annotation that was written with the part
}

// keep hands an original to save, before the change that it is the original of.
func keep(save Save, s saved) error {
	s.Format = savedFormat
	b, err := json.Marshal(s)
	if err != nil {
		return &lasting{fmt.Errorf("encoding the original of %s: %w", s.Ref, err)}
	}
	if err := save(s.Ref, b); err != nil {
		return &lasting{fmt.Errorf("saving the original of %s: %w", s.Ref, err)}
	}
	return nil
}

func parseSaved(b []byte) (*saved, error) {
	var s saved
	err := utiljson.Unmarshal(b, &s)
	if err == nil && (s.Format < 1 || s.Format > savedFormat) {
		err = fmt.Errorf("format %d is not known", s.Format)
	}
	if err != nil {
		return nil, &problem.Problem{
			Code:    "UND-READ",
			Summary: message.T("A saved original cannot be read, so its change cannot be undone."),
			Fix:     message.T("Use the release of Touchdown that made the change."),
			Err:     err,
		}
	}
	if s.Had && s.Original == nil { // an empty map is left out of the JSON
		s.Original = map[string]any{}
	}
	if s.Ours == nil {
		s.Ours = map[string]any{}
	}
	// The tree's numbers must compare equal to those that the API's decoder makes.
	for _, tree := range []*map[string]any{&s.Original, &s.Ours, &s.Manifest} {
		if *tree == nil {
			continue
		}
		if *tree, err = normal(*tree); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// SavedRef returns which object an original is of.
func SavedRef(original []byte) (Ref, error) {
	s, err := parseSaved(original)
	if err != nil {
		return Ref{}, err
	}
	return s.Ref, nil
}

// SavedManifest returns the whole object that was saved before its deletion, nil when the original is of something else,
// and that object's UID: power may fail between saving and deleting.
func SavedManifest(original []byte) (map[string]any, types.UID, error) {
	s, err := parseSaved(original)
	if err != nil {
		return nil, "", err
	}
	return s.Manifest, s.UID, nil
}
