package heat

import (
	"cmp"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// Rate is writes per second over a span of time.
type Rate struct {
	PerSecond float64
	// PlusMinus is half of the 95 % interval; 0 when all was counted.
	PlusMinus float64
	Exact     bool // every row of the span was counted
	AtLeast   bool // some were not: groups beyond the budget, or what the window's method leaves out
	Share     float64
	Rows      int64 // counted, not multiplied
}

// Window is what was counted of a collection in the last while.
type Window struct {
	NS       topology.Namespace
	Method   Method
	From, To time.Time
	Seconds  float64 // that were covered; less than To − From where counts failed
	Total    Rate
	slots    []Slot
}

// Window gathers the slots of a collection that lie in the last d, and the newest
// one where that is longer. It is empty (Seconds 0) when nothing was counted then.
func (c *Collector) Window(ns topology.Namespace, d time.Duration) Window {
	w := Window{NS: ns}
	slots := c.ring.since(ns, time.Time{})
	if len(slots) == 0 {
		return w
	}
	newest := slots[len(slots)-1]
	w.To, w.Method = newest.To, newest.Method
	begin := w.To.Add(-max(d, newest.To.Sub(newest.From)))
	for i, s := range slots {
		if !s.From.Before(begin) {
			w.slots = slots[i:]
			break
		}
	}
	if len(w.slots) == 0 {
		return w
	}
	w.From = w.slots[0].From
	total := tally{}
	for _, s := range w.slots {
		w.Seconds += s.Seconds()
		total.add(s, s.Rows())
	}
	w.Total = total.rate(w.Seconds, 0)
	w.Total.Share = 1
	return w
}

// tally adds up counts of slots that were counted in different ways.
type tally struct {
	rows     int64   // counted
	estimate float64 // multiplied
	variance float64
	sampled  bool
	capped   bool
}

// add counts rows of a slot. Where one part in n is counted, the error of the
// estimate n·rows has the variance n·(n−1)·rows, as for rows that fall into the
// counted part by chance.
func (t *tally) add(s Slot, rows int64) {
	t.rows += rows
	t.estimate += float64(rows * s.Every)
	t.variance += float64(s.Every*(s.Every-1)) * float64(rows)
	t.sampled = t.sampled || s.Every > 1
	t.capped = t.capped || s.Capped
}

func (t tally) rate(seconds, of float64) Rate {
	if seconds <= 0 {
		return Rate{}
	}
	r := Rate{PerSecond: t.estimate / seconds, Exact: !t.sampled && !t.capped, AtLeast: t.capped, Rows: t.rows}
	if t.sampled {
		// A count of none does not show that there was none: three are within 95 %.
		r.PlusMinus = max(1.96*math.Sqrt(t.variance), 3*float64(Tick/slice)) / seconds
	}
	if of > 0 {
		r.Share = t.estimate / of
	}
	return r
}

// estimate is the window's whole, for shares.
func (w Window) estimate() float64 { return w.Total.PerSecond * w.Seconds }

// Line is one project, Yorkie document, chunk or shard in a window.
type Line struct {
	Project  bson.ObjectID
	Document bson.ObjectID
	Chunk    int // position in the table's map; -1 where it is no chunk
	Shard    string
	Rate     Rate
	Projects int           // chunks: how many projects wrote to it
	Top      bson.ObjectID // chunks: the project that wrote most
	TopShare float64       // chunks: its part of the chunk's writes
}

// Projects are the window's projects, hottest first.
func (w Window) Projects() []Line {
	return lines(w, func(c Count) (bson.ObjectID, bool) { return c.Project, true },
		func(id bson.ObjectID) Line { return Line{Project: id, Chunk: -1} })
}

// Documents are the window's Yorkie documents, hottest first. Of times longer
// ago than a quarter of an hour only the busiest are kept by name.
func (w Window) Documents() []Line {
	type id struct{ project, document bson.ObjectID }
	return lines(w, func(c Count) (id, bool) { return id{c.Project, c.Document}, !c.Document.IsZero() },
		func(k id) Line { return Line{Project: k.project, Document: k.document, Chunk: -1} })
}

func lines[K comparable](w Window, key func(Count) (K, bool), line func(K) Line) []Line {
	sums := map[K]*tally{}
	for _, s := range w.slots {
		for _, c := range s.Counts {
			k, ok := key(c)
			if !ok {
				continue
			}
			if sums[k] == nil {
				sums[k] = &tally{}
			}
			sums[k].add(s, c.Rows)
		}
	}
	out := make([]Line, 0, len(sums))
	for k, t := range sums {
		l := line(k)
		l.Rate = t.rate(w.Seconds, w.estimate())
		out = append(out, l)
	}
	slices.SortFunc(out, hotter)
	return out
}

func hotter(a, b Line) int {
	return cmp.Or(cmp.Compare(b.Rate.PerSecond, a.Rate.PerSecond), slices.Compare(a.Project[:], b.Project[:]),
		slices.Compare(a.Document[:], b.Document[:]), cmp.Compare(a.Chunk, b.Chunk), cmp.Compare(a.Shard, b.Shard))
}

// key of a piece, clipped to the chunks of a table: rows counted under an older
// cut of the key space count for the chunk that has its beginning now.
func chunkOf(c *topology.Collection, min shardkey.Key) int {
	i, _ := c.Chunks.Find(min)
	return i
}
