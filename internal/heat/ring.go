package heat

import (
	"slices"
	"sync"
	"time"

	"shardboard/internal/topology"
)

const (
	// perMinute is how long the counts of single minutes are kept: the last hour is judged by the minute.
	perMinute = 70 * time.Minute
	// Longest is the longest window.
	Longest = 24 * time.Hour
	// Shortest is the shortest window.
	Shortest = 10 * time.Second
)

// mergedSlots are the lengths into which slots are merged when they are older, longest first: 21 hours of the longest
// are fewer slots than the last hour has.
var mergedSlots = [...]struct{ length, from time.Duration }{
	{30 * time.Minute, 3 * time.Hour},
	{5 * time.Minute, perMinute},
	{time.Minute, 15 * time.Minute},
}

// ring has the slots of the last day by collection, oldest first.
type ring struct {
	mu    sync.RWMutex
	slots map[topology.Namespace][]Slot
}

func (r *ring) add(s Slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = map[topology.Namespace][]Slot{}
	}
	r.slots[s.NS] = append(compact(dropFuture(r.slots[s.NS], s.To), s.To), s)
}

// recall sets what was counted before the ring's own time: slots of a minute, oldest first.
func (r *ring) recall(slots []Slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = map[topology.Namespace][]Slot{}
	}
	for _, s := range slots {
		r.slots[s.NS] = append(r.slots[s.NS], s)
	}
}

// dropFuture removes slots that begin at now or later: they were counted before the clock was set back,
// and a new slot would come before them.
func dropFuture(slots []Slot, now time.Time) []Slot {
	if n := len(slots); n == 0 || slots[n-1].From.Before(now) {
		return slots
	}
	return slices.DeleteFunc(slices.Clone(slots), func(s Slot) bool { return !s.From.Before(now) })
}

// compact merges old slots and removes those older than the longest window. It makes a new list, because readers keep
// the old one.
func compact(slots []Slot, now time.Time) []Slot {
	out := make([]Slot, 0, len(slots)+1)
	for i := 0; i < len(slots); {
		s := slots[i]
		if now.Sub(s.To) > Longest {
			i++
			continue
		}
		end, old := mergedUntil(s, now)
		if !old {
			return append(out, slots[i:]...)
		}
		j := i + 1
		for j < len(slots) && slots[j].From.Before(end) && !slots[j].From.After(slots[j-1].To) {
			j++
		}
		if j-i > 1 {
			s = mergeSlots(slots[i:j])
		}
		out = append(out, s)
		i = j
	}
	return out
}

// mergedUntil is where the longer slot ends that a slot belongs to; false while it is too young for any.
func mergedUntil(s Slot, now time.Time) (end time.Time, old bool) {
	for _, m := range mergedSlots {
		if end = s.From.Truncate(m.length).Add(m.length); now.Sub(end) >= m.from {
			return end, true
		}
	}
	return end, false
}

// since returns the slots of a collection that end after a time.
func (r *ring) since(ns topology.Namespace, from time.Time) []Slot {
	r.mu.RLock()
	defer r.mu.RUnlock()
	slots := r.slots[ns]
	for i, s := range slots {
		if s.To.After(from) {
			return slots[i:]
		}
	}
	return nil
}

// collections returns what was measured.
func (r *ring) collections() []topology.Namespace {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]topology.Namespace, 0, len(r.slots))
	for ns := range r.slots {
		out = append(out, ns)
	}
	return out
}
