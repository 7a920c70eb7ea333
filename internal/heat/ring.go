package heat

import (
	"slices"
	"sync"
	"time"

	"shardboard/internal/topology"
)

const (
	// fine is how long slots keep their original length; older ones are merged into slots of a
	// minute.
	fullDetailFor = 15 * time.Minute
	mergedSlot    = time.Minute
	// Longest is the longest window.
	Longest = 24 * time.Hour
	// Shortest is the shortest window.
	Shortest = 10 * time.Second
)

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

// compact merges the slots of each old minute and removes those older than the longest window. It
// makes a new list, because readers keep the old one.
func compact(slots []Slot, now time.Time) []Slot {
	out := make([]Slot, 0, len(slots)+1)
	for i := 0; i < len(slots); {
		s := slots[i]
		minute := s.From.Truncate(mergedSlot)
		end := minute.Add(mergedSlot)
		if now.Sub(s.To) > Longest {
			i++
			continue
		}
		if now.Sub(end) < fullDetailFor {
			out = append(out, slots[i:]...)
			break
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
