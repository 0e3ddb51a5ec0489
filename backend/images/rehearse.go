package images

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"touchdown/backend/check"
	"touchdown/backend/images/wanted"
	"touchdown/backend/message"
)

const (
	// crioStart is how long CRI-O may take to answer after a boot or a restart: it does within a second where its store is small, and
	// reads every layer's record of a large one.
	crioStart = 3 * time.Minute
	// rehearsalLimit is how long the pods may take to come back: a control plane needs up to ten minutes after a cold boot of
	// server hardware.
	rehearsalLimit = 20 * time.Minute
	rehearsalPoll  = 2 * time.Second
	// pullGrace is how long all that is missing may wait for images before the rehearsal ends: with every registry blocked no later
	// try goes better, but the store is read again by a CRI-O that was restarted.
	pullGrace = 90 * time.Second
)

// watching is the look at a node while its rehearsal runs.
type watching struct {
	*Node
	limit time.Duration // zero: 20 minutes
	poll  time.Duration // between two looks; zero: 2 seconds
}

// Rehearse resolves every image with nothing but the seeded store, waits until what was ready before is ready again, and keeps
// what was missed and who wanted it. It is for the boot that is the rehearsal.
func (n *Node) Rehearse(ctx context.Context) (Rehearsal, error) { return watching{Node: n}.run(ctx) }

func (w watching) run(ctx context.Context) (Rehearsal, error) {
	r, err := LoadRehearsal(w.host)
	if err != nil {
		return r, err
	}
	if !r.Begun {
		err := r.unbegun(w.host)
		return r, err
	}
	begun := w.now()
	if err := w.Await(ctx); err != nil {
		return r, fmt.Errorf("waiting for CRI-O: %w", err)
	}
	list, err := w.cri.List(ctx)
	if err != nil {
		return r, fmt.Errorf("listing what CRI-O has: %w", err)
	}
	r.StoreSeen, r.Missed = len(list), nil
	for _, n := range r.Needs {
		image, err := w.cri.Status(ctx, n.Image)
		switch {
		case err != nil:
			n.Why = message.Detail(err)
		case image == nil:
			n.Why = message.T("CRI-O does not find it in the seeded store")
		default:
			continue
		}
		r.Missed = append(r.Missed, n)
	}
	if r.NotReady, err = w.pods(ctx, r.Pods); err != nil {
		return r, err
	}
	r.Market, r.Tagged = w.catalogs(ctx, message.English(r.NotReady))
	r.Finished, r.Seconds = true, w.now().Sub(begun).Seconds()
	return r, r.save(w.host)
}

// pods waits for the pods that ran before, and returns those that did not come back, with the reason.
func (w watching) pods(ctx context.Context, before []string) (missing []message.Text, err error) {
	limit := w.limit
	if limit == 0 {
		limit = rehearsalLimit
	}
	poll := w.poll
	if poll == 0 {
		poll = rehearsalPoll
	}
	end := w.now().Add(limit)
	hopeful := w.now()
	for {
		missing, err = w.away(ctx, before)
		if err == nil && len(missing) == 0 || w.now().After(end) {
			break
		}
		if err != nil || slices.ContainsFunc(missing, func(pod message.Text) bool { return !refusedImage(pod.String()) }) {
			hopeful = w.now()
		} else if w.now().Sub(hopeful) >= pullGrace {
			break
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the pods: %w", context.Cause(ctx))
		case <-time.After(poll):
		}
	}
	if err != nil && len(before) > 0 {
		return []message.Text{message.F("the cluster's API does not answer: %s", message.Detail(err))}, nil
	}
	return missing, nil
}

// refusedImage tells whether a pod waits for an image that no registry gives.
func refusedImage(pod string) bool {
	return strings.HasSuffix(pod, "waits: ErrImagePull") || strings.HasSuffix(pod, "waits: ImagePullBackOff")
}

// away returns the pods that ran before the reboot and are not back. The API may still report a pod's old status, so CRI-O must run each of
// its containers now. CRI-O's own store is covered, so it lists no container from before the reboot.
func (w watching) away(ctx context.Context, before []string) ([]message.Text, error) {
	if len(before) == 0 {
		return nil, nil
	}
	pods, err := podsOf(ctx, w.kube.Within(rehearsalPoll*5))
	if err != nil {
		return nil, err
	}
	containers, err := w.cri.Containers(ctx)
	if err != nil {
		return []message.Text{message.F("CRI-O does not list its containers: %s", message.Detail(err))}, nil
	}
	running := map[string]bool{}
	for _, c := range containers {
		running[containerID+c.ID] = c.Running
	}
	var missing []message.Text
	for _, name := range before {
		if reason := pods[name].awaited(running); reason.String() != "" {
			missing = append(missing, message.F("%s: %s", name, reason))
		}
	}
	return missing, nil
}

// Check is the rehearsal in the form that screens and reports show.
func (r Rehearsal) Check() check.Check {
	c := check.Check{
		ID: "images-rehearsed", Title: message.T("Start without registries"), Expected: message.T("all pods ready, no image missed"),
		Source: message.T("rehearsal: every registry blocked, CRI-O's own store empty"),
	}
	switch {
	case r.Why.String() != "":
		c.Status, c.Observed, c.Evidence = check.Fail, message.T("the rehearsal could not begin"), []message.Text{r.Why}
		c.Fix = message.T("Run `touchdown images rehearse` again; if it fails again, make a support bundle and call support.")
	case !r.Finished:
		c.Status, c.Observed = check.Fail, message.T("the rehearsal was cut short")
		c.Fix = message.T("Run `touchdown images rehearse` again and leave the node alone until it is back.")
	case r.Passed():
		c.Status = check.Pass
		c.Observed = message.F("%s ready after %.0f s, %s from the store alone",
			message.N(len(r.Pods), "%d pod", "%d pods"), r.Seconds, message.N(r.StoreSeen, "%d image", "%d images"))
	default:
		c.Status = check.Fail
		c.Observed = message.F("%s missed, %s not ready", message.N(len(r.Missed), "%d image", "%d images"), message.N(len(r.NotReady), "%d pod", "%d pods"))
		c.Fix = r.advice()
		for _, n := range r.Missed {
			who := message.T("nobody")
			if len(n.By) > 0 {
				who = wanted.Named(n.By[0])
			}
			c.Evidence = append(c.Evidence, message.F("%s wanted by %s: %s", n.Image, who, n.Why))
		}
		c.Evidence = append(c.Evidence, r.NotReady...)
	}
	return c
}
