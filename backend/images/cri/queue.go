package cri

import (
	"cmp"
	"slices"
	"sync"

	"touchdown/backend/images/ref"
)

// queue hands the images of a run out to its workers. CRI-O does not share a layer between two pulls under way (1.34.0: eight
// at once fetched 1.45 times the bytes of a loop). So an image waits as long as someone fetches a layer that it needs too, and
// the next one that can go takes its place.
type queue struct {
	wants []Want

	mu    sync.Mutex
	ended sync.Cond
	left  []int           // not begun, in the order of work
	there map[string]bool // blobs that were fetched
	busy  map[string]bool // blobs that are being fetched
}

func newQueue(wants []Want) *queue {
	q := &queue{wants: wants, left: order(wants), there: map[string]bool{}, busy: map[string]bool{}}
	q.ended.L = &q.mu
	return q
}

// order returns the indexes of wants in the order of work.
func order(wants []Want) []int {
	all := make([]int, len(wants))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		if wants[a].Boot != wants[b].Boot {
			if wants[a].Boot {
				return -1
			}
			return 1
		}
		return cmp.Compare(wants[b].Size(), wants[a].Size())
	})
	return all
}

// take waits for the next image that can be begun; ok is false when none is left.
func (q *queue) take() (i int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if len(q.left) == 0 {
			return 0, false
		}
		if i, ok = q.next(); ok {
			return i, true
		}
		q.ended.Wait() // someone is at work: what is not being fetched can be begun
	}
}

// next begins the first image in the order of work that needs nothing which is being fetched.
func (q *queue) next() (i int, ok bool) {
	for at, i := range q.left {
		if slices.ContainsFunc(q.wants[i].Blobs, func(b ref.Blob) bool { return q.busy[b.Digest] }) {
			continue
		}
		for _, b := range q.wants[i].Blobs {
			if !q.there[b.Digest] {
				q.busy[b.Digest] = true
			}
		}
		q.left = slices.Delete(q.left, at, at+1)
		return i, true
	}
	return 0, false
}

// end tells that an image is not being fetched any more, and whether it is there.
func (q *queue) end(i int, there bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.wants[i].Blobs {
		delete(q.busy, b.Digest)
		q.there[b.Digest] = q.there[b.Digest] || there
	}
	q.ended.Broadcast()
}
