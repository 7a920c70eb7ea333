package topology

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// eventLimit is how many changelog entries a table keeps of each kind: of the
// server's own collections and of all others. A new cluster writes more than this
// about config.system.sessions in its first hour, and what people did must not go
// for it.
const eventLimit = 1000

// eventDepth is how far back a read goes when most of the newest entries are the
// server's own.
const eventDepth = 5 * eventLimit

// newestEvents keeps the newest entries of each kind, in their order.
func newestEvents(all []Event) []Event {
	out := make([]Event, 0, min(len(all), 2*eventLimit))
	var internal, others int
	for _, e := range all {
		n := &others
		if e.Internal() {
			n = &internal
		}
		if *n++; *n <= eventLimit {
			out = append(out, e)
		}
	}
	return out
}

// readEvents reads the entries since the newest known one (nil: the newest there
// are), and once more, deeper, when the server's own fill what was read: the split
// of config.system.sessions alone writes 1,023 within a second.
func (w *Watcher) readEvents(ctx context.Context, newest *Event) ([]Event, error) {
	events, err := w.src.Events(ctx, newest, eventLimit)
	if err != nil || len(events) < eventLimit {
		return events, err
	}
	internal := 0
	for _, e := range events {
		if e.Internal() {
			internal++
		}
	}
	if 2*internal < len(events) {
		return events, nil
	}
	if deeper, err := w.src.Events(ctx, newest, eventDepth); err == nil {
		return deeper, nil
	}
	return events, nil
}

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
	fresh, err := w.readEvents(read, newest)
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
		t.Events = newestEvents(slices.Concat(fresh, old))
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

// TextField is a text of an entry's details; "" where it has none of this name.
func TextField(details bson.Raw, name string) string {
	s, _ := details.Lookup(name).StringValueOK()
	return s
}

// DocumentField is a document of an entry's details; nil where it has none of this name.
func DocumentField(details bson.Raw, name string) bson.Raw {
	doc, _ := details.Lookup(name).DocumentOK()
	return doc
}
