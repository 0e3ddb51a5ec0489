package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"touchdown/backend/kube"
	"touchdown/backend/message"
)

// Record is what is kept of an object before it is applied, so that it can be taken back. Of an object that its owner has it holds nothing; of one
// that an earlier landing brought it holds what that set, which can be a secret.
type Record struct {
	At         kube.Ref `json:"at"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Existed    bool     `json:"existed"`        // it was there before
	Ours       bool     `json:"ours,omitempty"` // an earlier landing has brought it
	// Before is what that landing set. Records of older releases have none.
	Before map[string]any `json:"before,omitempty"`
}

// Records are what was kept, and what keeps more.
type Records struct {
	Kept []Record
	Keep func(Record) error
}

// keep notes once what an object was before it was applied for the first time.
func (r *Records) keep(record Record) error {
	for _, k := range r.Kept {
		if k.At == record.At {
			return nil
		}
	}
	if err := r.Keep(record); err != nil {
		return err
	}
	r.Kept = append(r.Kept, record)
	return nil
}

// Apply applies the objects in their order. It waits for a kind that an earlier one defines, and may be repeated.
func Apply(ctx context.Context, c *kube.Cluster, objects []Object, records *Records) error {
	for i, o := range objects {
		to, err := o.find(ctx, c)
		if err == nil && to == nil {
			if !earlier(objects[:i], o, Object.defines) {
				return unserved(o)
			}
			to, err = o.await(ctx, c)
		}
		if err != nil {
			return err
		}
		have, err := c.Get(ctx, to.Ref)
		if err != nil {
			return err
		}
		if err := records.keep(Record{At: to.Ref, APIVersion: o.APIVersion, Kind: o.Kind, Existed: have != nil, Ours: applied(have), Before: owned(have)}); err != nil {
			return err
		}
		if err := o.apply(ctx, c, *to, earlier(objects[:i], o, Object.defines)); err != nil {
			return refused(ctx, o, err)
		}
	}
	return nil
}

// apply applies the object. Where its kind has just been defined, or defined in another way, the API may still judge by what was before, for some
// moments: an API that refuses is asked again.
func (o Object) apply(ctx context.Context, c *kube.Cluster, to at, defined bool) error {
	for end := time.Now().Add(judgedLimit); ; {
		err := apply(ctx, c, to, o.marked())
		if !defined || !judged(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(c.Pace.Poll):
		}
	}
}

// await waits until the kind of the object is served.
func (o Object) await(ctx context.Context, c *kube.Cluster) (to *at, err error) {
	wait := kube.Wait{
		What: message.F("the kind %s", o.Kind), Limit: servedLimit, Usual: 5 * time.Second, Code: "MNF-LATE",
		Fix: message.T("Look at the conditions of its CustomResourceDefinition, then retry."),
	}
	err = c.Until(ctx, wait, func(ctx context.Context) (kube.Progress, bool, error) {
		to, err = o.find(ctx, c)
		return kube.Progress{Waiting: message.F("the API to serve %s", o.Kind)}, to != nil, err
	})
	return to, err
}

// Undo takes back what was applied, last object first: one that was made is removed, of one that was there only the fields that Touchdown
// set. One that an earlier landing brought belongs to that, and is as that left it. It returns what is still there after its time, because something in the cluster has to clean up first.
func Undo(ctx context.Context, c *kube.Cluster, records []Record) (left []kube.Ref, err error) {
	for i := len(records) - 1; i >= 0; i-- {
		gone, err := records[i].undo(ctx, c)
		if err != nil {
			return left, fmt.Errorf("taking back %s: %w", records[i].At, err)
		}
		if !gone {
			left = append(left, records[i].At)
		}
	}
	return left, nil
}

func (r Record) undo(ctx context.Context, c *kube.Cluster) (gone bool, err error) {
	if r.Ours && r.Before == nil {
		return true, nil
	}
	object, err := c.Get(ctx, r.At)
	if err != nil || object == nil || !applied(object) {
		return true, err // gone with what it depended on, or another one in its place
	}
	if r.Ours {
		return true, r.asBefore(ctx, c)
	}
	if r.Existed {
		meta := map[string]any{"name": r.At.Name}
		if r.At.Namespace != "" {
			meta["namespace"] = r.At.Namespace
		}
		empty := map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "metadata": meta}
		o := Object{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.At.Namespace, Name: r.At.Name}
		return true, apply(ctx, c, place(o, r.At.Resource), empty)
	}
	if _, err := c.Delete(ctx, r.At, func(kube.Ref, []byte) error { return nil }); err != nil {
		return false, err
	}
	return awaitGone(ctx, c, r.At)
}

// asBefore gives an object back what an earlier landing had set. What someone else has taken over since is theirs.
func (r Record) asBefore(ctx context.Context, c *kube.Cluster) error {
	apiVersion, _ := r.Before["apiVersion"].(string)
	o := Object{APIVersion: apiVersion, Kind: r.Kind, Namespace: r.At.Namespace, Name: r.At.Name}
	err := apply(ctx, c, place(o, r.At.Resource), r.Before)
	if held(err) != nil {
		return nil
	}
	return err
}

// applied tells whether Touchdown applied something to an object.
func applied(object map[string]any) bool { return ownEntry(object) != nil }

// ParseRecord reads a Record that was kept as JSON.
func ParseRecord(text []byte) (r Record, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading what was kept of an object: %w", err)
	}
	return r, nil
}
