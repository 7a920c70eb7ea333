package engine

import (
	"slices"
	"sync"

	"shardboard/internal/actions"
)

// locks grants runs exclusive use of collections, zones and the balancer, and of
// shards for one migration at a time. A request gets all of its keys at once or
// none, and requests for the same key are granted in the order in which they were
// made. So there is neither deadlock nor starvation.
type locks struct {
	mu      sync.Mutex
	held    map[string]string // key → run
	waiting []*lockRequest
}

type lockRequest struct {
	locks   *locks
	run     string
	keys    []string
	granted chan struct{} // closed when the request holds its keys
}

// request asks for keys that the run does not hold yet.
func (l *locks) request(run string, keys []string) *lockRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]string{}
	}
	r := &lockRequest{locks: l, run: run, keys: keys, granted: make(chan struct{})}
	l.waiting = append(l.waiting, r)
	l.grant()
	return r
}

// grant gives keys to every request whose keys are all free and not wanted by an
// earlier request.
func (l *locks) grant() {
	wanted := map[string]bool{}
	l.waiting = slices.DeleteFunc(l.waiting, func(r *lockRequest) bool {
		free := !slices.ContainsFunc(r.keys, func(k string) bool { return l.held[k] != "" || wanted[k] })
		for _, k := range r.keys {
			if free {
				l.held[k] = r.run
			}
			wanted[k] = true
		}
		if free {
			close(r.granted)
		}
		return free
	})
}

// release gives the keys back, or withdraws a request that was not granted.
func (r *lockRequest) release() {
	l := r.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, r); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else {
		for _, k := range r.keys {
			delete(l.held, k)
		}
	}
	l.grant()
}

// blocker returns a key that the request waits for, and the run that holds it or
// requested it earlier.
func (r *lockRequest) blocker() (key, run string) {
	l := r.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range r.keys {
		if holder := l.held[k]; holder != "" {
			return k, holder
		}
	}
	for _, o := range l.waiting {
		if o == r {
			break
		}
		for _, k := range o.keys {
			if slices.Contains(r.keys, k) {
				return k, o.run
			}
		}
	}
	return "", ""
}

// lockKeys are the keys that a run holds from its first step to its last.
//
// The commands that commit or abort a resharding are an exception: the run that reshards
// holds the collection until they have had their effect. They change nothing but the
// operation that this run waits for, and their preconditions name it. So they do not take
// the collection, but a key of their own, of which one run at a time has one.
func lockKeys(steps []Step) []string {
	var keys []string
	for _, s := range steps {
		if s.EndsAnother() { // runs beside the run that holds the collection
			keys = append(keys, "resharding of "+string(s.NS))
			continue
		}
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

// shardLockKeys are the keys of the shards that take part in a migration: the
// recipient, and every shard that the step expects to own part of the range.
func shardLockKeys(s actions.Step) []string {
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
