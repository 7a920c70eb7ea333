package topology

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// suspects are chunks that a failed migration named: the balancer flags a chunk
// that is too big to move as jumbo without a new version, so that the routing
// poll cannot see it.
type suspects struct {
	mu   sync.Mutex
	list []suspect
}

type suspect struct {
	ns    Namespace
	min   bson.Raw
	turns int // how often it is still to be read
}

// suspectTurns reads each suspect twice: the log entry of the failure is
// written shortly before the flag.
const suspectTurns = 2

// suspectLimit bounds what waits, and suspectsPerTurn the re-reads of one slow poll. What
// does not fit the sweep finds.
const (
	suspectLimit    = 2000
	suspectsPerTurn = 100
)

// addAll takes the chunks of failed migrations over from new entries, each once.
func (s *suspects) addAll(fresh []Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(fresh) {
		one, ok := suspectOf(e)
		if !ok {
			continue
		}
		known := slices.IndexFunc(s.list, func(o suspect) bool { return o.ns == one.ns && string(o.min) == string(one.min) })
		switch {
		case known >= 0:
			s.list[known].turns = suspectTurns
		case len(s.list) < suspectLimit:
			s.list = append(s.list, one)
		}
	}
}

// take removes the suspects of one turn.
func (s *suspects) take() []suspect {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.list), suspectsPerTurn)
	list := slices.Clone(s.list[:n])
	s.list = slices.Delete(s.list, 0, n)
	return list
}

// again puts those back that are to be read once more.
func (s *suspects) again(list []suspect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range list {
		if one.turns--; one.turns > 0 && len(s.list) < suspectLimit {
			s.list = append(s.list, one)
		}
	}
}

// recheck reads the chunks that failed migrations named and takes their flags over: one
// command for each collection.
func (w *Watcher) recheck(ctx context.Context) {
	list := w.suspects.take()
	of := map[Namespace][]shardkey.Key{}
	for _, s := range list {
		c := w.Table().Collection(s.ns)
		if c == nil {
			continue
		}
		if at, err := c.Key.Bound(s.min); err == nil {
			of[s.ns] = append(of[s.ns], at)
		}
	}
	for ns, at := range of {
		c := w.Table().Collection(ns)
		if c == nil {
			continue
		}
		if err := w.rereadAt(ctx, c.Meta, at); err != nil && ctx.Err() != nil {
			return
		}
	}
	w.suspects.again(list)
}

// suspectOf tells which chunk a failed migration is about.
func suspectOf(e Event) (suspect, bool) {
	if !e.FailedMove() {
		return suspect{}, false
	}
	lower, ok := e.Details.Lookup("min").DocumentOK()
	return suspect{ns: Namespace(e.NS), min: lower, turns: suspectTurns}, ok
}
