package topology

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// eventLimit is how many changelog entries a table keeps.
const eventLimit = 1000

// pollEvents reads what the changelog has gained and gives the new entries,
// newest first. Nil and no error: nothing new.
func (w *Watcher) pollEvents(ctx context.Context) ([]Event, error) {
	if err := w.events.enter(ctx); err != nil {
		return nil, err
	}
	defer w.events.leave()
	read, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	var newest *Event
	first := true
	if known := w.Table(); len(known.Events) > 0 {
		newest, first = &known.Events[0], false
	}
	fresh, err := w.src.Events(read, newest, eventLimit)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	was := w.Table().Health[PartEvents]
	w.publish(func(t *Table) bool {
		loud := t.note(PartEvents, err)
		if !usable(err) || len(fresh) == 0 {
			return loud
		}
		// The newest known one may have gone from the capped log: then some come again.
		ids := make(map[string]bool, len(fresh))
		for _, e := range fresh {
			ids[e.ID] = true
		}
		old := slices.DeleteFunc(slices.Clone(t.Events), func(e Event) bool { return ids[e.ID] })
		all := slices.Concat(fresh, old)
		t.Events = all[:min(len(all), eventLimit):min(len(all), eventLimit)]
		return true
	})
	w.logHealth(PartEvents, was, w.Table().Health[PartEvents])
	if first {
		return nil, err // all of the past is not news
	}
	return fresh, err
}

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

// suspectLimit bounds the re-reads of one slow poll.
const suspectLimit = 20

// recheck reads the chunks that failed migrations named and takes their flags over.
func (w *Watcher) recheck(ctx context.Context, fresh []Event) {
	w.suspects.mu.Lock()
	list := w.suspects.list
	for _, e := range fresh {
		if s, ok := suspectOf(e); ok && len(list) < suspectLimit {
			list = append(list, s)
		}
	}
	w.suspects.list = nil
	w.suspects.mu.Unlock()
	var left []suspect
	for _, s := range list {
		c := w.Table().Collection(s.ns)
		if c == nil {
			continue
		}
		from, err := c.Key.Bound(s.min)
		if err != nil {
			continue
		}
		if err := w.reread(ctx, c.Meta, from, 1, nil); err != nil && ctx.Err() != nil {
			return
		}
		if s.turns--; s.turns > 0 {
			left = append(left, s)
		}
	}
	w.suspects.mu.Lock()
	w.suspects.list = append(left, w.suspects.list...)
	w.suspects.mu.Unlock()
}

// suspectOf tells which chunk a failed migration is about.
func suspectOf(e Event) (suspect, bool) {
	switch e.What {
	case "moveChunk.error":
	case "moveChunk.from":
		note, _ := e.Details.Lookup("note").StringValueOK()
		from, _ := e.Details.Lookup("from").StringValueOK()
		to, _ := e.Details.Lookup("to").StringValueOK()
		// A move to the shard that has the chunk already is logged as aborted too.
		if note != "aborted" || from == to && from != "" {
			return suspect{}, false
		}
	default:
		return suspect{}, false
	}
	lower, ok := e.Details.Lookup("min").DocumentOK()
	return suspect{ns: Namespace(e.NS), min: lower, turns: suspectTurns}, ok
}
