package site

import (
	"sync"
	"time"
)

// knob is what every service has: it can be off, be slow, and tell how often it was asked.
type knob struct {
	mu    sync.Mutex
	off   bool
	delay time.Duration
	asked int
}

// Off makes the service silent: it hears and says nothing.
func (k *knob) Off() { k.set(func() { k.off = true }) }

// On makes it speak again.
func (k *knob) On() { k.set(func() { k.off = false }) }

// Slow makes it wait before each answer.
func (k *knob) Slow(d time.Duration) { k.set(func() { k.delay = d }) }

// Asked is how many questions have arrived, answered or not.
func (k *knob) Asked() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked
}

func (k *knob) set(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
}

// answers counts a question, waits as long as the service is slow, and tells whether there is to be an answer.
func (k *knob) answers() bool {
	k.mu.Lock()
	k.asked++
	off, delay := k.off, k.delay
	k.mu.Unlock()
	time.Sleep(delay)
	return !off
}
