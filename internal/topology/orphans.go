package topology

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// OrphanDelay is how long a donor keeps the documents of a range that it gave
// away when nobody waits for their deletion: orphanCleanupDelaySecs, by default.
// A mongos cannot be asked for it.
const OrphanDelay = 15 * time.Minute

// OrphanState is what is known of orphaned documents (catalogue code).
type OrphanState string

// What can be known of the orphaned documents of a collection on a shard.
const (
	OrphansCounted OrphanState = "counted" // by the server (6.0 and later)
	OrphansPending OrphanState = "pending" // not counted since ranges left so lately that their documents may still be there
	OrphansQuiet   OrphanState = "quiet"   // not counted, but no range has left within OrphanDelay
	OrphansUnknown OrphanState = "unknown" // not counted, and the changelog does not tell
)

// Orphans is all that is known of orphaned documents. Every page and plan that
// speaks of them says what this says.
type Orphans struct {
	State  OrphanState
	Count  Figure    // documents, by the server; when pending it is older than the last range that left
	Ranges int       // that left within OrphanDelay and had documents
	Moved  Figure    // documents in them, by the changelog; some or all may be deleted by now
	AtMost Figure    // documents that may be orphaned in all
	Until  time.Time // about when the last of them are deleted
	Reason string    // catalogue code why they are not counted; "" when they are
}

// OrphansOn is what is known of a collection's orphaned documents on one shard.
func (t *Table) OrphansOn(ns Namespace, shard string, now time.Time) Orphans {
	count, left := t.orphanCount(ns, shard)
	out := Orphans{State: OrphansQuiet, Count: count, Moved: Figure{Known: true, Method: "changelog", At: t.Health[PartEvents].At}}
	if !out.Count.Known {
		out.Reason = out.Count.Reason
	}
	var last time.Time
	for _, e := range t.Events {
		if now.Sub(e.Time) > OrphanDelay {
			break // newest first
		}
		if e.NS != string(ns) {
			continue // before its details are decoded: pages ask this for many collections
		}
		g, ok := GivenAway(e)
		if !ok || g.Shard != shard || g.Empty {
			continue
		}
		out.Ranges++
		if e.Time.After(last) {
			last = e.Time
		}
		if out.Moved.Value += g.Documents; !g.Counted {
			out.Moved.Known, out.Moved.Reason = false, "notReported"
		}
	}
	gap := t.logGap(now)
	switch {
	case out.Count.Known && !last.After(out.Count.At):
		out.State, out.AtMost = OrphansCounted, out.Count
	case out.Ranges > 0:
		out.State, out.Until, out.AtMost = OrphansPending, last.Add(OrphanDelay), out.Moved
		if out.Count.Known {
			out.AtMost = addOrphans(out.Count, out.Moved)
		}
	case out.Count.Known:
		out.State, out.AtMost = OrphansCounted, out.Count
	case gap != "":
		out.State, out.Reason, out.AtMost = OrphansUnknown, gap, Figure{Reason: gap}
	case left:
		// The release counts them, where there are chunks: none have left lately.
		out.State, out.Reason = OrphansCounted, ""
		out.Count = Figure{Known: true, Method: "changelog", At: t.Health[PartEvents].At}
		out.AtMost = out.Count
	default:
		out.AtMost = Figure{Known: true, Method: "changelog", At: t.Health[PartEvents].At}
	}
	return out
}

// OrphansOf is OrphansOn over all shards: the least that is known of any.
func (t *Table) OrphansOf(ns Namespace, now time.Time) Orphans {
	var all []Orphans
	if c := t.Collection(ns); c == nil || c.Unsplittable {
		return joinOrphans(nil) // its documents belong to where they are
	}
	for _, s := range t.Shards {
		all = append(all, t.OrphansOn(ns, s.Name, now))
	}
	return joinOrphans(all)
}

// OrphansAt is OrphansOn over all sharded collections of one shard.
func (t *Table) OrphansAt(shard string, now time.Time) Orphans {
	var all []Orphans
	for _, c := range t.Collections {
		if !c.Temporary && !c.Unsplittable {
			all = append(all, t.OrphansOn(c.NS, shard, now))
		}
	}
	return joinOrphans(all)
}

func joinOrphans(all []Orphans) Orphans {
	if len(all) == 0 {
		none := Figure{Known: true, Exact: true, Method: "routing"}
		return Orphans{State: OrphansCounted, Count: none, AtMost: none}
	}
	worse := map[OrphanState]int{OrphansCounted: 0, OrphansQuiet: 1, OrphansUnknown: 2, OrphansPending: 3}
	out := all[0]
	for _, o := range all[1:] {
		if worse[o.State] > worse[out.State] {
			out.State = o.State
		}
		out.Count, out.Moved, out.AtMost = addOrphans(out.Count, o.Count), addOrphans(out.Moved, o.Moved), addOrphans(out.AtMost, o.AtMost)
		out.Ranges += o.Ranges
		if o.Until.After(out.Until) {
			out.Until = o.Until
		}
		if out.Reason == "" {
			out.Reason = o.Reason
		}
	}
	return out
}

// addOrphans adds two figures; one that is not known makes the sum unknown.
func addOrphans(a, b Figure) Figure {
	switch {
	case !a.Known:
		return a
	case !b.Known:
		return b
	}
	a.Value += b.Value
	a.Exact = a.Exact && b.Exact
	if b.At.Before(a.At) {
		a.At = b.At
	}
	return a
}

// orphanCount is the server's count. Statistics list the shards that own chunks:
// one that they leave out may still have orphans of what it gave away. left tells
// that others of this collection are counted.
func (t *Table) orphanCount(ns Namespace, shard string) (f Figure, left bool) {
	all := t.Sizes[ns]
	if s, ok := all.Shards[shard]; ok {
		return s.Orphans, false
	}
	for _, s := range all.Shards {
		if s.Orphans.Known {
			return Figure{Reason: "notListed"}, true
		}
		f.Reason = s.Orphans.Reason
	}
	if f.Reason != "" {
		return f, false
	}
	if f = t.SizeOn(ns, shard).Orphans; f.Known {
		f = Figure{Reason: "notListed"}
	}
	return f, false
}

// logGap is why the events do not tell what happened within OrphanDelay; "" when
// they do.
func (t *Table) logGap(now time.Time) string {
	h := t.Health[PartEvents]
	switch {
	case h.Denied:
		return "notPermitted"
	case h.At.IsZero():
		return "notLoaded"
	case now.Sub(h.At) > OrphanDelay:
		return "unreachable"
	case len(t.Events) >= eventLimit && now.Sub(t.Events[len(t.Events)-1].Time) < OrphanDelay:
		return "logTooShort"
	}
	return ""
}

// Given is a range that a shard gave away.
type Given struct {
	NS        Namespace
	Shard     string   // the donor
	Min, Max  bson.Raw // nil when the entry does not say
	Counted   bool     // the entry says how many documents were copied
	Documents int64
	Empty     bool // none
}

// GivenAway is what a changelog entry tells of a range that left a shard; false
// for one that is not the commit of a migration, or does not name its donor.
func GivenAway(e Event) (g Given, ok bool) {
	if e.What != "moveChunk.commit" {
		return g, false
	}
	g.NS = Namespace(e.NS)
	g.Shard, _ = e.Details.Lookup("from").StringValueOK()
	g.Min, _ = e.Details.Lookup("min").DocumentOK()
	g.Max, _ = e.Details.Lookup("max").DocumentOK()
	g.Documents, g.Counted = Amount(e.Details.Lookup("counts", "cloned"))
	g.Empty = g.Counted && g.Documents == 0
	return g, g.Shard != ""
}
