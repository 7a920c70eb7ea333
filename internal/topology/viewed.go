package topology

import (
	"maps"
	"sync"
	"time"
)

// viewed remembers which collections somebody looks at.
type viewed struct {
	mu sync.Mutex
	at map[Namespace]time.Time
}

// viewedFor is how long a collection counts as looked at.
const viewedFor = 2 * time.Minute

// viewedLimit bounds the memory: names come from URLs.
const viewedLimit = 1000

func (v *viewed) recently(ns Namespace, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	at, ok := v.at[ns]
	return ok && now.Sub(at) < viewedFor
}

// Viewed says that somebody looks at a collection now: its sizes are then read
// sooner and more often for two minutes.
func (w *Watcher) Viewed(ns Namespace) {
	v, now := &w.viewed, time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.at == nil {
		v.at = make(map[Namespace]time.Time)
	}
	if len(v.at) >= viewedLimit {
		maps.DeleteFunc(v.at, func(_ Namespace, at time.Time) bool { return now.Sub(at) >= viewedFor })
	}
	if _, ok := v.at[ns]; ok || len(v.at) < viewedLimit {
		v.at[ns] = now
	}
}
