package heat

import (
	"cmp"
	"math"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// UsualWindow is the time that every statement about writes is of where no other is chosen: pages, problems, plans,
// metrics and answers of the API have it in common.
const UsualWindow = 5 * time.Minute

// Rate is writes per second over a span of time.
type Rate struct {
	PerSecond float64
	// PlusMinus is half of the 95 % interval; 0 when everything was counted.
	PlusMinus float64
	Exact     bool // every row of the time span was counted
	AtLeast   bool // a lower bound: some rows were beyond the budget or are omitted by the window's method
	Share     float64
	Rows      int64 // rows counted, not extrapolated
}

// Window is what was counted of a collection in a recent time span.
type Window struct {
	NS       topology.Namespace
	Method   Method
	From, To time.Time
	Seconds  float64 // seconds covered; less than To − From where counts failed
	Total    Rate
	slots    []Slot
}

// Window returns the slots of a collection that lie in the last d, at least the newest one. It is
// empty (Seconds 0) when nothing was counted.
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
	w.sum()
	return w
}

// Between returns the slots of a collection that lie in [from, to), of the last day. Where single minutes are no longer
// kept, those that overlap it, so that the window begins before from or ends after to. It is empty (Seconds 0) when
// nothing was counted then.
func (c *Collector) Between(ns topology.Namespace, from, to time.Time) Window {
	w := Window{NS: ns}
	for _, s := range c.ring.since(ns, from) {
		if !s.From.Before(to) {
			break
		}
		if s.To.Sub(s.From) > time.Minute || !s.From.Before(from) && !s.To.After(to) {
			w.slots = append(w.slots, s)
			w.To, w.Method = s.To, s.Method
		}
	}
	w.sum()
	return w
}

// sum adds up the slots.
func (w *Window) sum() {
	if len(w.slots) == 0 {
		return
	}
	w.From = w.slots[0].From
	total := tally{}
	for _, s := range w.slots {
		w.Seconds += s.Seconds()
		total.add(s, s.Rows())
	}
	w.Total = total.rate(w.Seconds, 0)
	w.Total.Share = 1
}

// stored is a project's id as it is stored; false where that is not known.
func (w Window) stored(project bson.ObjectID) (bson.RawValue, bool) {
	for _, s := range w.slots {
		if id, ok := s.Stored.Value(project); ok {
			return id, true
		}
	}
	return bson.RawValue{}, false
}

// DocumentText is the id of a Yorkie document of the window as people write it.
func (w Window) DocumentText(id bson.ObjectID) string {
	for _, s := range w.slots {
		if stored, ok := s.Stored[id]; ok {
			return stored.Text(id)
		}
	}
	return id.Hex()
}

// DocumentOf is the Yorkie document of the window whose id people write so; zero if there is none.
func (w Window) DocumentOf(text string) bson.ObjectID {
	for _, s := range w.slots {
		for id, stored := range s.Stored {
			if stored.Text(id) == text {
				return id
			}
		}
	}
	id, err := bson.ObjectIDFromHex(text)
	if err != nil {
		return bson.ObjectID{}
	}
	return id
}

// CountedUntil is when the newest slot of a collection ends; zero when nothing was counted.
func (c *Collector) CountedUntil(ns topology.Namespace) time.Time {
	if slots := c.ring.since(ns, time.Time{}); len(slots) > 0 {
		return slots[len(slots)-1].To
	}
	return time.Time{}
}

// tally adds up counts of slots with different sampling.
type tally struct {
	rows     int64   // counted
	estimate float64 // extrapolated
	variance float64
	loose    float64 // the estimate may be off by so many rows, because they were counted before a split
	sampled  bool
	capped   bool
}

// add adds rows of a slot. Where one part in n is counted, the estimate n·rows has the variance
// n·(n−1)·rows, as for rows that fall into the counted part at random.
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
	r := Rate{PerSecond: t.estimate / seconds, Exact: !t.sampled && !t.capped && t.loose == 0, AtLeast: t.capped, Rows: t.rows}
	if t.sampled {
		// Zero counted rows do not prove that there were none: up to three are within the 95 %
		// interval.
		r.PlusMinus = max(1.96*math.Sqrt(t.variance), 3*float64(Tick/sampleSlice)) / seconds
	}
	r.PlusMinus += t.loose / seconds
	if of > 0 {
		r.Share = t.estimate / of
	}
	return r
}

// estimate is the window's total, for shares.
func (w Window) estimate() float64 { return w.Total.PerSecond * w.Seconds }

// Line is one project, Yorkie document, chunk or shard in a window.
type Line struct {
	Project  bson.ObjectID
	Document bson.ObjectID
	Chunk    int // index in the table's chunk map; -1 for other lines
	Shard    string
	Rate     Rate
	Projects int           // chunks: how many projects wrote to it
	Top      bson.ObjectID // chunks: the project that wrote most
	TopShare float64       // chunks: its share of the chunk's writes
	// Since is when the chunk came into being by a split, where its earlier writes are not known by key: the rate is of
	// the time since then. Zero: of the whole window.
	Since time.Time
}

// Projects returns the window's projects, hottest first.
func (w Window) Projects() []Line {
	return lines(w, func(c Count) (bson.ObjectID, bool) { return c.Project, true },
		func(id bson.ObjectID) Line { return Line{Project: id, Chunk: -1} })
}

// Documents returns the window's Yorkie documents, hottest first. Of slots older than a quarter of
// an hour only the busiest are listed.
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
	slices.SortFunc(out, compareHotness)
	return out
}

func compareHotness(a, b Line) int {
	return cmp.Or(cmp.Compare(b.Rate.PerSecond, a.Rate.PerSecond), slices.Compare(a.Project[:], b.Project[:]),
		slices.Compare(a.Document[:], b.Document[:]), cmp.Compare(a.Chunk, b.Chunk), natural.Compare(a.Shard, b.Shard))
}

// chunkOf is the chunk that contains a bound.
func chunkOf(c *topology.Collection, min shardkey.Key) int {
	i, _ := c.Chunks.Find(min)
	return i
}
