package cri_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"touchdown/backend/images/cri"
	"touchdown/backend/images/cri/critest"
	"touchdown/backend/images/ref"
	"touchdown/test/wait"
)

// family makes images as they are built: some bases, on each some middles, on each some images; sizes are bytes.
func family(bases, middles, images int, size func(level int) int64) []cri.Want {
	var all []cri.Want
	for b := range bases {
		base := ref.Blob{Digest: fmt.Sprintf("base-%d", b), Size: size(0)}
		for m := range middles {
			middle := ref.Blob{Digest: fmt.Sprintf("middle-%d-%d", b, m), Size: size(1)}
			for i := range images {
				own := ref.Blob{Digest: fmt.Sprintf("own-%d-%d-%d", b, m, i), Size: size(2)}
				all = append(all, cri.Want{Name: fmt.Sprintf("r.example/i-%d-%d:%d", b, m, i), Blobs: []ref.Blob{base, middle, own}})
			}
		}
	}
	return all
}

// fetcher fetches as CRI-O does: what is not in the store, whether someone else is fetching it or not.
type fetcher struct {
	mu      sync.Mutex
	there   map[string]bool
	fetched map[string]int
}

// begin returns what an image lacks.
func (f *fetcher) begin(w cri.Want) (lacks []ref.Blob) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range w.Blobs {
		if !f.there[b.Digest] {
			f.fetched[b.Digest]++
			lacks = append(lacks, b)
		}
	}
	return lacks
}

func (f *fetcher) end(w cri.Want) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range w.Blobs {
		f.there[b.Digest] = true
	}
}

func (f *fetcher) twice() (all []string) {
	for digest, n := range f.fetched {
		if n != 1 {
			all = append(all, fmt.Sprintf("%s %d times", digest, n))
		}
	}
	return all
}

// No layer is fetched twice, and once the bases are there all workers are at work: each pull waits until as many are.
func TestNoLayerIsFetchedTwice(t *testing.T) {
	const workers = 6
	wants := family(3, 4, 5, func(int) int64 { return 1000 })
	wants[59].Boot = true
	f := &fetcher{there: map[string]bool{}, fetched: map[string]int{}}
	of := map[string]cri.Want{}
	for _, w := range wants {
		of[w.Name] = w
	}
	s := critest.Start(t)
	s.OnPull = func(context.Context, string, int) error { return nil }
	var begun sync.WaitGroup // the first three: nothing else can be begun before one of them ends
	begun.Add(3)
	var mu sync.Mutex
	first := 3
	s.OnPull = func(_ context.Context, name string, _ int) error {
		f.begin(of[name])
		mu.Lock()
		if first > 0 {
			first--
			begun.Done()
		}
		mu.Unlock()
		begun.Wait()
		// A pull takes a while: until all are at work, or longer than that takes once enough can be begun.
		few, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_ = wait.For(few, "all workers", func() bool { return s.Most() == workers })
		f.end(of[name])
		return nil
	}
	if _, err := (cri.Pull{Client: s.Client(t), Workers: workers}).Run(t.Context(), wants); err != nil {
		t.Fatal(err)
	}
	if twice := f.twice(); len(twice) > 0 {
		t.Errorf("fetched more than once: %s", strings.Join(twice, ", "))
	}
	pulled := s.Pulled()
	if len(pulled) != 60 || s.Most() != workers {
		t.Errorf("%d pulled, at most %d at once, want 60 and %d", len(pulled), s.Most(), workers)
	}
	if !slices.Contains(pulled[:3], wants[59].Name) {
		t.Errorf("the image that the node boots with was not among the first: %v", pulled[:3])
	}
}

// A layer whose pull failed is fetched by the next image that needs it, and images without known blobs wait for nobody.
func TestFailedPullLeavesItsLayers(t *testing.T) {
	s := critest.Start(t)
	wants := family(1, 1, 3, func(int) int64 { return 10 })
	wants = append(wants, want("r.example/unknown", false), want("r.example/unknown-too", false))
	together := make(chan bool)
	s.OnPull = func(_ context.Context, name string, _ int) error {
		switch {
		case strings.Contains(name, "unknown"):
			return nil
		case name == wants[0].Name:
			<-together
			return errors.New("manifest unknown")
		}
		return nil
	}
	beside := wait.Within(t, time.Second)
	go func() {
		defer close(together)
		_ = wait.For(beside, "the pulls beside the one that hangs", func() bool { return len(s.Pulled()) >= 3 })
	}()
	out, err := cri.Pull{Client: s.Client(t), Workers: 2, Pause: soon}.Run(t.Context(), wants)
	if err == nil || out[0].Class != cri.Gone || len(s.Pulled()) != 4 {
		t.Errorf("%v, pulled %v", err, s.Pulled())
	}
	if before := s.Pulled()[:2]; !strings.Contains(before[0], "unknown") || !strings.Contains(before[1], "unknown") {
		t.Errorf("beside the pull that hung went %v", before)
	}
}

// In a model of CRI-O (each pull fetches what is not there, in time by its bytes) no byte is fetched twice, and the order costs
// little: six workers take less than 1.4 times what all bytes through six lines would, though at first only three can work.
func TestOrderKeepsWorkersBusy(t *testing.T) {
	const workers = 6
	rnd := rand.New(rand.NewPCG(4, 2))
	size := func(level int) int64 { return []int64{60, 30, 12}[level] * (500 + rnd.Int64N(1000)) }
	for round := range 20 {
		wants := family(3, 4, 6, size)
		rnd.Shuffle(len(wants), func(a, b int) { wants[a], wants[b] = wants[b], wants[a] })
		took, bytes, each := model(wants, workers)
		if bytes != each {
			t.Errorf("round %d: %d bytes fetched, there are %d", round, bytes, each)
		}
		if ratio := float64(took) * workers / float64(each); ratio > 1.4 {
			t.Errorf("round %d: %.2f of the best time", round, ratio)
		}
	}
}

// model pulls in virtual time: a byte is one tick of one worker.
func model(wants []cri.Want, workers int) (took, bytes, each int64) {
	q := cri.NewQueue(wants)
	f := &fetcher{there: map[string]bool{}, fetched: map[string]int{}}
	ends := map[int]int64{}
	for now := int64(0); ; {
		for len(ends) < workers {
			i, ok := q.Next()
			if !ok {
				break
			}
			ends[i] = now
			for _, b := range f.begin(wants[i]) {
				ends[i] += b.Size
				bytes += b.Size
			}
		}
		if len(ends) == 0 {
			break
		}
		soonest := -1
		for i := range ends {
			if soonest < 0 || ends[i] < ends[soonest] {
				soonest = i
			}
		}
		now = ends[soonest]
		took = now
		delete(ends, soonest)
		f.end(wants[soonest])
		q.End(soonest, true)
	}
	sizes := map[string]int64{}
	for _, w := range wants {
		for _, b := range w.Blobs {
			sizes[b.Digest] = b.Size
		}
	}
	for _, n := range sizes {
		each += n
	}
	return took, bytes, each
}
