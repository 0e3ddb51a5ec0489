package cri

import (
	"context"
	"sync"
	"time"
)

// Pulled is how far a Pull is.
type Pulled struct {
	Images, Done, Failed int
	Bytes, Total         int64         // fetched and to be fetched, each blob once; of the images whose size is known
	Unsized              int           // images whose size is not known
	Rate                 float64       // bytes a second, over the last 15 s; 0: not known yet
	Left                 time.Duration // 0: not known yet
	Now                  []string      // what is being pulled
}

const (
	tellEvery = 500 * time.Millisecond
	rateOver  = 15 * time.Second
	// packed is how many bytes are fetched for each byte that the store grows by, until the run has shown it: 2.8 GB for
	// 7.4 GB, measured.
	packed = 0.38
	// nearly is how much of an image that is still coming may be counted: its last layers are unpacked when all is fetched.
	nearly = 0.95
)

// meter works out how far a pull is. CRI tells nothing while it pulls, so finished images count by their blobs, and what is
// still coming by how much the file system fills up.
type meter struct {
	mu      sync.Mutex
	wants   []Want
	blobs   map[string]int64 // of all wants, each once
	there   map[string]bool
	now     map[int]bool
	p       Pulled
	begun   time.Time
	base    int64 // bytes in use at the beginning
	packed  float64
	history []point
}

type point struct {
	at    time.Time
	bytes int64
}

func newMeter(wants []Want) *meter {
	m := &meter{
		wants: wants, blobs: map[string]int64{}, there: map[string]bool{}, now: map[int]bool{}, packed: packed, base: -1,
		begun: time.Now(), p: Pulled{Images: len(wants)},
	}
	for _, w := range wants {
		if w.Blobs == nil {
			m.p.Unsized++
		}
		for _, b := range w.Blobs {
			if _, known := m.blobs[b.Digest]; !known {
				m.blobs[b.Digest] = b.Size
				m.p.Total += b.Size
			}
		}
	}
	return m
}

func (m *meter) begin(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now[i] = true
}

// end counts an image. One that failed is counted as done with as far as the total goes: nothing waits for it any more.
func (m *meter) end(i int, ok bool, used int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.now, i)
	if !ok {
		m.p.Failed++
		m.drop(i)
		return
	}
	m.p.Done++
	for _, b := range m.wants[i].Blobs {
		m.there[b.Digest] = true
	}
	// What is still coming is on average half there.
	if growth := used - m.base; m.base >= 0 && growth > 64<<20 {
		seen := float64(m.fetched()+m.coming()/2) / float64(growth)
		m.packed = (m.packed + min(1.5, max(0.1, seen))) / 2
	}
}

// drop takes the blobs out of the total that only this image needed.
func (m *meter) drop(i int) {
	others := map[string]bool{}
	for k, w := range m.wants {
		if k != i {
			for _, b := range w.Blobs {
				others[b.Digest] = true
			}
		}
	}
	for _, b := range m.wants[i].Blobs {
		if _, known := m.blobs[b.Digest]; known && !others[b.Digest] {
			delete(m.blobs, b.Digest)
			m.p.Total -= b.Size
		}
	}
}

func (m *meter) fetched() int64 {
	var sum int64
	for digest := range m.there {
		sum += m.blobs[digest]
	}
	return sum
}

// coming is how large what is being pulled is, less the blobs that are there.
func (m *meter) coming() int64 {
	var sum int64
	seen := map[string]bool{}
	for i := range m.now {
		for _, b := range m.wants[i].Blobs {
			if !m.there[b.Digest] && !seen[b.Digest] {
				seen[b.Digest] = true
				sum += b.Size
			}
		}
	}
	return sum
}

// sample works out the current progress. It never goes back.
func (m *meter) sample(now time.Time, used int64) Pulled {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base < 0 {
		m.base = used
	}
	fetched := m.fetched()
	grown := int64(m.packed*float64(used-m.base)) - fetched
	bytes := fetched + min(max(0, grown), int64(nearly*float64(m.coming())))
	m.p.Bytes = min(max(m.p.Bytes, bytes), m.p.Total)
	m.history = append(m.history, point{now, m.p.Bytes})
	for len(m.history) > 2 && now.Sub(m.history[0].at) > rateOver {
		m.history = m.history[1:]
	}
	m.p.Rate = 0
	if first := m.history[0]; now.After(first.at) {
		m.p.Rate = float64(m.p.Bytes-first.bytes) / now.Sub(first.at).Seconds()
	}
	m.p.Left = m.left(now)
	m.p.Now = m.p.Now[:0:0]
	for i, w := range m.wants {
		if m.now[i] {
			m.p.Now = append(m.p.Now, w.Name)
		}
	}
	return m.p
}

// left goes by bytes where sizes are known, as if the others were of average size; else by images.
func (m *meter) left(now time.Time) time.Duration {
	ended := m.p.Done + m.p.Failed
	sized := m.p.Images - m.p.Unsized
	switch {
	case ended == m.p.Images:
		return 0
	case sized > 0 && m.p.Rate > 0:
		total := float64(m.p.Total) * float64(m.p.Images) / float64(sized)
		return time.Duration(max(0, total-float64(m.p.Bytes)) / m.p.Rate * float64(time.Second)).Round(time.Second)
	case ended > 0:
		return (now.Sub(m.begun) / time.Duration(ended) * time.Duration(m.p.Images-ended)).Round(time.Second)
	}
	return 0
}

// report tells how far the run is until the returned function is called, which tells a last time.
func (r *run) report(ctx context.Context) (stop func()) {
	if r.Tell == nil {
		return func() {}
	}
	r.Tell(r.meter.sample(time.Now(), r.used()))
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ctx.Done():
				return
			case now := <-tick.C:
				r.Tell(r.meter.sample(now, r.used()))
			}
		}
	}()
	return func() {
		close(quit)
		<-gone
		r.Tell(r.meter.sample(time.Now(), r.used()))
	}
}
