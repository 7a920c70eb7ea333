package heat

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// RowSource reads rows, for collections whose counts do not contain the shard key.
type RowSource interface {
	// NewestRows returns the most recently written rows, newest first.
	NewestRows(ctx context.Context, q NewestQuery) ([]placement.KeyedRow, error)
}

// Recent is the time span in which hot keys are searched: in it every slot still lists all Yorkie
// documents.
const Recent = UsualWindow

const (
	// At most sampled rows are read for all ranges of one request, and at least least for each.
	maxSampledRows, minSampledRows = 1000, 100
	// briefly is how many counted seconds are enough to use the counts alone.
	minCountedSeconds = 60
	// Keys are judged to grow with time from rising rows on, if steadily of them do.
	minRowsToJudge  = 20
	growingFraction = 0.95
)

// recentRows is how many rows are enough to use less than Recent: a load that has just begun, or ended, would be mixed
// with the time before it.
const recentRows = 300

// recent is the shortest of some windows in which enough was written to tell where it is written now.
func (c *Collector) recent(ns topology.Namespace) Window {
	for _, over := range []time.Duration{time.Minute, 2 * time.Minute} {
		if w := c.Window(ns, over); w.Seconds >= minCountedSeconds && w.Total.Rows >= recentRows {
			return w
		}
	}
	return c.Window(ns, Recent)
}

// hasWholeKeys reports whether the counts of a collection contain whole shard keys; otherwise rows
// must be read.
func (w Window) hasWholeKeys(c *topology.Collection, of target) bool {
	for _, f := range c.Key.Fields() {
		if f.Name != of.project && f.Name != of.document {
			return false
		}
	}
	counted := false
	for _, s := range w.slots {
		for _, n := range s.Counts {
			if _, ok := s.wholeKey(c, of, n); ok {
				return true
			}
			counted = true
		}
	}
	return of.ns != "" && !counted
}

// wholeKey is the shard key of counted rows; false where the counts do not name all of its fields.
func (s Slot) wholeKey(c *topology.Collection, of target, n Count) (shardkey.Key, bool) {
	values := s.keyValues(c, of, n)
	if len(values) < c.Key.Len() {
		return shardkey.Key{}, false
	}
	k, err := c.Key.KeyOf(values...)
	return k, err == nil
}

// Written returns the shard key values that were recently written, for ranges of a collection in
// their order: from the counts if they contain whole shard keys, else from the newest rows, at most
// sampled of them.
func (c *Collector) Written(
	ctx context.Context,
	src RowSource,
	t *topology.Table,
	ns topology.Namespace,
	ranges []shardkey.Range,
) []topology.RangeWrites {
	out := make([]topology.RangeWrites, len(ranges))
	for i, r := range ranges {
		out[i] = topology.RangeWrites{NS: ns, Min: r.Min, Max: r.Max}
	}
	fail := func(reason string) []topology.RangeWrites {
		for i := range out {
			out[i].Reason = reason
		}
		return out
	}
	col := t.Collection(ns)
	if col == nil || col.Chunks.Len() == 0 {
		return fail("notLoaded")
	}
	how, known := CoverageOf(t, c.prof, ns)
	switch {
	case !known:
		how.Not = Unprofiled
	case how.Not == "inPlace", how.Not == "scattered", how.Not == Unsharded:
		return fail(string(how.Not))
	}
	of := targetOf(t, c.prof, ns)
	w := c.recent(ns)
	counted := how.Not == "" && how.Method == NewRows && w.Seconds > 0
	if counted && w.Seconds >= minCountedSeconds && w.hasWholeKeys(col, of) {
		for i := range out {
			w.fillFromCounts(col, of, &out[i])
		}
		return out
	}
	c.fillFromRows(ctx, src, t, col, how, out)
	for i := range out {
		if o := &out[i]; counted && o.Reason == "" {
			o.InShards = true
			if r := w.Within(t, c.prof, ranges[i]).Range(); r.PerSecond > 0 {
				o.PerSecond = r.PerSecond
			}
		}
	}
	return out
}

// fillFromCounts fills in what was counted in a range.
func (w Window) fillFromCounts(c *topology.Collection, of target, out *topology.RangeWrites) {
	type id struct{ project, document bson.ObjectID }
	keys := map[id]shardkey.Key{}
	sums := map[shardkey.Key]*topology.KeyWrites{}
	in := shardkey.Range{Min: out.Min, Max: out.Max}
	all := int64(0)
	for _, s := range w.slots {
		out.AtLeast = out.AtLeast || s.Capped
		for _, n := range s.Counts {
			who := id{n.Project, n.Document}
			k, seen := keys[who]
			if !seen {
				if whole, ok := s.wholeKey(c, of, n); ok && in.Contains(whole) {
					k = whole
				}
				keys[who] = k
			}
			if k.IsZero() {
				continue
			}
			if sums[k] == nil {
				sums[k] = &topology.KeyWrites{Key: k, Project: n.Project, Document: n.Document, DocumentText: s.Stored.Text(n.Document)}
			}
			if sums[k].Document != n.Document {
				sums[k].Document = bson.ObjectID{} // several documents: the key is the project
			}
			sums[k].Rows += n.Rows * s.Every
			out.Rows += n.Rows
			all += n.Rows * s.Every
		}
	}
	out.Method, out.From, out.To, out.InShards = topology.WritesCounted, w.From, w.To, true
	out.PerSecond = float64(all) / w.Seconds
	out.Keys = inOrder(sums)
}

func inOrder(sums map[shardkey.Key]*topology.KeyWrites) []topology.KeyWrites {
	out := make([]topology.KeyWrites, 0, len(sums))
	for _, k := range sums {
		out = append(out, *k)
	}
	slices.SortFunc(out, func(a, b topology.KeyWrites) int { return a.Key.Compare(b.Key) })
	return out
}

// fillFromRows reads the newest rows of ranges: with one query each if the leading field of the key
// narrows it, else with one query for all.
func (c *Collector) fillFromRows(
	ctx context.Context,
	src RowSource,
	t *topology.Table,
	col *topology.Collection,
	how Coverage,
	out []topology.RangeWrites,
) {
	fields, now := col.Key.Fields(), c.o.Now()
	q := NewestQuery{NS: col.NS, From: now.Add(-Recent)}
	for _, f := range fields {
		q.Key = append(q.Key, f.Name)
	}
	method, of := topology.WritesNew, profile.Collection{}
	for _, p := range c.prof.Nearest(t, col.NS.Database()).Collections {
		if how.Not == "" && p.Name == col.NS.Collection() {
			of = p
		}
	}
	if how.Not == "" && how.Method == ChangedRows {
		method, q.Date = topology.WritesChanged, of.WrittenAt
	}
	for _, name := range []string{of.ProjectField, of.DocumentField} {
		if name != "" {
			q.Also = append(q.Also, name)
		}
	}
	together := fields[0].Hashed || fields[0].Name == "_id"
	limit := maxSampledRows
	if !together {
		limit = max(minSampledRows, maxSampledRows/len(out))
	}
	var rows []placement.KeyedRow
	var reason string
	for i := range out {
		o := &out[i]
		o.Method, o.From, o.To = method, q.From, now
		if i == 0 || !together {
			one := q
			if !together {
				one.Field = fields[0].Name
				one.Least, one.Most = leadingBounds(col, *o)
			}
			rows, one.Limit, reason = c.newest(ctx, src, one, limit)
			limit = min(limit, max(one.Limit, 1))
		}
		if o.Reason = reason; reason != "" {
			continue
		}
		fillFromSample(col, of, q.Date, rows, limit, o)
	}
}

// leadingBounds are the values of the leading field at the ends of a range.
func leadingBounds(col *topology.Collection, o topology.RangeWrites) (lo, hi bson.RawValue) {
	if v, err := col.Key.Values(o.Min); err == nil {
		lo = v[0]
	}
	if v, err := col.Key.Values(o.Max); err == nil {
		hi = v[0]
	}
	return lo, hi
}

// newest makes one read within the budget and its timeout.
func (c *Collector) newest(ctx context.Context, src RowSource, q NewestQuery, limit int) ([]placement.KeyedRow, int, string) {
	held := c.o.Budget.HoldBut(budgetReserve, limit)
	if held < minSampledRows {
		c.o.Budget.Give(held)
		return nil, 0, "noBudget"
	}
	q.Limit = held
	ask, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	rows, err := src.NewestRows(ask, q)
	c.o.Budget.Give(held - len(rows))
	switch {
	case err == nil:
		return rows, held, ""
	case fault.Of(err) == fault.Forbidden:
		return nil, held, "notPermitted"
	case ask.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return nil, held, "tooSlow"
	}
	return nil, held, "unreachable"
}

// fillFromSample uses those of the newest rows that are in a range.
func fillFromSample(
	col *topology.Collection,
	of profile.Collection,
	date string,
	rows []placement.KeyedRow,
	limit int,
	o *topology.RangeWrites,
) {
	in := shardkey.Range{Min: o.Min, Max: o.Max}
	sums := map[shardkey.Key]*topology.KeyWrites{}
	var last shardkey.Key
	older := 0
	if n := len(rows); n >= limit { // the limit was reached before the begin of the time span
		if at := writtenAt(rows[n-1], date); at.After(o.From) {
			o.From = at
		}
		o.AtLeast = true
	}
	for _, row := range rows {
		k, err := col.Key.Extract(row.Doc)
		if err != nil || !in.Contains(k) {
			continue
		}
		project, _, _ := placement.IDOf(shardkey.FieldOf(row.Doc, of.ProjectField))
		document, stored, _ := placement.IDOf(shardkey.FieldOf(row.Doc, of.DocumentField))
		if sums[k] == nil {
			sums[k] = &topology.KeyWrites{Key: k, Project: project, Document: document, DocumentText: stored.Text(document)}
		}
		if sums[k].Project != project {
			sums[k].Project = bson.ObjectID{} // several projects
		}
		if sums[k].Document != document {
			sums[k].Document = bson.ObjectID{}
		}
		sums[k].Rows++
		if o.Rows++; o.Rows > 1 && k.Compare(last) <= 0 {
			older++
		}
		last = k
	}
	o.Keys = inOrder(sums)
	o.Growing = o.Rows >= minRowsToJudge && len(o.Keys) > 1 && float64(older) >= growingFraction*float64(o.Rows-1)
	if d := o.To.Sub(o.From).Seconds(); d > 0 {
		o.PerSecond = float64(o.Rows) / max(d, 1)
	}
}

func writtenAt(row placement.KeyedRow, date string) time.Time {
	if date != "" {
		t, _ := shardkey.FieldOf(row.Doc, date).TimeOK()
		return t
	}
	return row.ID.Timestamp()
}

// ShardRates returns the rows per second that each shard took in all collections whose new rows are
// counted, over the usual window; nil when nothing was counted. A missing shard took
// none.
func (c *Collector) ShardRates(t *topology.Table) map[string]float64 {
	var windows []Window
	some := false
	for _, ns := range c.Counted(t) {
		w := c.recent(ns)
		windows, some = append(windows, w), some || w.Seconds > 0
	}
	if !some {
		return nil
	}
	out := map[string]float64{}
	for _, sum := range Sums(windows, func(w Window) []Line { return w.Shards(t, c.prof) }) {
		out[sum.Line.Shard] = sum.Line.Rate.PerSecond
	}
	return out
}

// HotCut reports whether a split-hot plan helps such a chunk: several shard key values are written,
// or may be.
func (s Splitting) HotCut() bool {
	return s.Can && (s.Code == "divides" || s.Code == "projects" || s.Code == "within")
}
