package engine

import (
	"slices"
	"sync"

	"shardboard/internal/actions"
)

// queue gives what runs must not share: collections, zones, the balancer and,
// for one migration at a time, shards. A ticket gets all of its keys at once or
// none, in the order of asking where they meet, so that nobody waits for ever.
type queue struct {
	mu      sync.Mutex
	held    map[string]string // key → run
	waiting []*ticket
}

type ticket struct {
	queue   *queue
	run     string
	keys    []string
	granted chan struct{} // closed when it has its keys
}

// ask queues for keys; those that the run has are not asked for again.
func (q *queue) ask(run string, keys []string) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held == nil {
		q.held = map[string]string{}
	}
	t := &ticket{queue: q, run: run, keys: keys, granted: make(chan struct{})}
	q.waiting = append(q.waiting, t)
	q.grant()
	return t
}

// grant gives keys to every ticket that can have all of its own and before
// which nobody waits for one of them.
func (q *queue) grant() {
	wanted := map[string]bool{}
	q.waiting = slices.DeleteFunc(q.waiting, func(t *ticket) bool {
		free := !slices.ContainsFunc(t.keys, func(k string) bool { return q.held[k] != "" || wanted[k] })
		for _, k := range t.keys {
			if free {
				q.held[k] = t.run
			}
			wanted[k] = true
		}
		if free {
			close(t.granted)
		}
		return free
	})
}

// release gives the keys back, or the place in the queue.
func (t *ticket) release() {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else {
		for _, k := range t.keys {
			delete(q.held, k)
		}
	}
	q.grant()
}

// before tells who has or is before this ticket at one of its keys.
func (t *ticket) before() (key, run string) {
	q := t.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, k := range t.keys {
		if r := q.held[k]; r != "" {
			return k, r
		}
	}
	for _, o := range q.waiting {
		if o == t {
			break
		}
		for _, k := range o.keys {
			if slices.Contains(t.keys, k) {
				return k, o.run
			}
		}
	}
	return "", ""
}

// keysOf are what a run needs for itself from its first to its last step.
func keysOf(steps []Step) []string {
	var keys []string
	for _, s := range steps {
		switch {
		case s.NS != "":
			keys = append(keys, "collection "+string(s.NS))
		case s.Op == actions.OpAddZone || s.Op == actions.OpRemoveZone:
			keys = append(keys, "zone "+s.Zone)
		case s.Op == actions.OpBalancerOn || s.Op == actions.OpBalancerOff || s.Op == actions.OpBalancerWindow:
			keys = append(keys, "balancer")
		}
		for _, f := range append(slices.Clone(s.Needs), s.Proof...) {
			if f.NS != "" {
				keys = append(keys, "collection "+string(f.NS))
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// shardKeysOf are the shards that take part in a migration: the recipient, and
// every one that the step needs to own what moves.
func shardKeysOf(s actions.Step) []string {
	if !s.Migrates() {
		return nil
	}
	keys := []string{"shard " + s.Shard}
	for _, f := range s.Needs {
		if owner := f.Want["shard"]; owner != "" {
			keys = append(keys, "shard "+owner)
		}
		if owners := f.Want["shards"]; owners != "" && f.Kind == actions.FactCover {
			keys = append(keys, "shard "+owners)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
