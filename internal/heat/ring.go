package heat

import (
	"slices"
	"sync"
	"time"

	"shardboard/internal/topology"
)

const (
	// fine is how long slots stay as they were counted; after it ten minutes of
	// them become slots of a minute.
	fine   = 15 * time.Minute
	coarse = time.Minute
	// Longest is the longest window that can be asked for, Shortest the shortest.
	Longest  = 24 * time.Hour
	Shortest = 10 * time.Second
)

// ring keeps the slots of the last day, oldest first, by collection.
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
	r.slots[s.NS] = append(compacted(past(r.slots[s.NS], s.To), s.To), s)
}

// past leaves out the slots that begin at a time or later: they were counted
// before the clock was set back, and a slot of now would come before them.
func past(slots []Slot, now time.Time) []Slot {
	if n := len(slots); n == 0 || slots[n-1].From.Before(now) {
		return slots
	}
	return slices.DeleteFunc(slices.Clone(slots), func(s Slot) bool { return !s.From.Before(now) })
}

// compacted joins the slots of each minute that has become old, and forgets
// what is older than the longest window. It makes a new list: readers keep theirs.
func compacted(slots []Slot, now time.Time) []Slot {
	out := make([]Slot, 0, len(slots)+1)
	for i := 0; i < len(slots); {
		s := slots[i]
		minute := s.From.Truncate(coarse)
		end := minute.Add(coarse)
		if now.Sub(s.To) > Longest {
			i++
			continue
		}
		if now.Sub(end) < fine {
			out = append(out, slots[i:]...)
			break
		}
		j := i + 1
		for j < len(slots) && slots[j].From.Before(end) && !slots[j].From.After(slots[j-1].To) {
			j++
		}
		if j-i > 1 {
			s = joined(slots[i:j])
		}
		out = append(out, s)
		i = j
	}
	return out
}

// since gives the slots of a collection that end after a time.
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

// collections lists what was measured.
func (r *ring) collections() []topology.Namespace {
	r.mu.RLock()
	defer r.mu.RUnlock()
	out := make([]topology.Namespace, 0, len(r.slots))
	for ns := range r.slots {
		out = append(out, ns)
	}
	return out
}
