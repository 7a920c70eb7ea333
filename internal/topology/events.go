package topology

import (
	"context"
	"slices"
	"time"

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

// EventsBegin is the time of the oldest entry of the table that is not about the server's own collections, where
// the changelog may have older ones; zero where the table has all.
func (t *Table) EventsBegin() time.Time {
	if len(t.Events) < eventLimit {
		return time.Time{}
	}
	for _, e := range slices.Backward(t.Events) {
		if !e.Internal() {
			return e.Time
		}
	}
	return t.Events[len(t.Events)-1].Time
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
	if w.follower.isLive() {
		return nil, nil // every entry comes by itself
	}
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
		t.Events = CorrectTimes(newestEvents(slices.Concat(fresh, old)))
		return true
	})
	w.logHealth(PartEvents, was, w.Table().Health[PartEvents])
	if first {
		// All of the past is not news, but a move that failed right before the chunks were
		// read, or since they were saved, may have had its chunk flagged right after.
		w.suspects.addAll(lately(fresh, w.saved.at))
		return nil, err
	}
	w.suspects.addAll(fresh)
	return fresh, err
}

// lately is the entries of the last minute before the newest one, and those from a minute before a time on, if it is
// not zero.
func lately(events []Event, from time.Time) []Event {
	for i, e := range events {
		if events[0].Time.Sub(e.Time) > time.Minute && (from.IsZero() || from.Sub(e.Time) > time.Minute) {
			return events[:i]
		}
	}
	return events
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
