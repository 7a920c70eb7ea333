package spread

import (
	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// matrixWrites are the writes of collections and projects on each shard, of the usual window.
type matrixWrites struct {
	v        answer.View
	counts   *heat.Collector
	coverage map[topology.Namespace]heat.Coverage
	sums     map[projectRef]shardAmounts // of the collections whose new rows are counted
	unseen   map[string]amount           // by database: of a project of which nothing was counted
	partial  map[projectRef]bool
	only     *projectRef // whose writes alone are counted; nil: those of all
}

const (
	writesOfPast = "Writes of past times are not kept by shard."
	noWritesYet  = "No writes have been counted yet."
)

func newMatrixWrites(v answer.View, counts *heat.Collector) *matrixWrites {
	w := &matrixWrites{v: v, counts: counts, coverage: map[topology.Namespace]heat.Coverage{}}
	if v.Past == nil && counts != nil && v.Profile != nil {
		for _, c := range heat.Cover(v.Table, v.Profile) {
			w.coverage[c.NS] = c
		}
	}
	return w
}

// reason is why no writes are known at all; the zero amount if they are.
func (w *matrixWrites) reason() (a amount, none bool) {
	switch {
	case w.v.Past != nil:
		return unknownAmount("notKept", writesOfPast), true
	case w.counts == nil || w.v.Profile == nil:
		return unknownAmount("notReported", "Writes are not counted here."), true
	}
	return amount{}, false
}

// collection is the writes of a collection by shard.
func (w *matrixWrites) collection(ns topology.Namespace) []amount {
	return w.spread(ns).dense(len(w.v.Table.Shards))
}

func (w *matrixWrites) spread(ns topology.Namespace) spread {
	why, none := w.reason()
	c, known := w.coverage[ns]
	switch {
	case none:
	case !known:
		why, none = unknownAmount(string(heat.Unprofiled), heat.Unprofiled.Text()), true
	case c.Not != "":
		why, none = unknownAmount(string(c.Not), w.v.Profile.Words(c.Not.Text())), true
	}
	window := heat.Window{}
	if !none {
		if window = w.counts.Window(ns, w.v.WritesWindow()); window.Seconds == 0 {
			why, none = unknownAmount("notLoaded", noWritesYet), true
		}
	}
	if none {
		return everywhere(why)
	}
	rates := map[string]heat.Rate{}
	for _, l := range window.Shards(w.v.Table, w.v.Profile) {
		rates[l.Shard] = l.Rate
	}
	out := spread{others: nothing()} // they have no chunk
	for i, s := range w.v.Table.Shards {
		switch r, has := rates[s.Name]; {
		case has && r.AtLeast && r.Rows == 0:
			out.on = append(out.on, shardAmount{i,
				unknownAmount("notCounted",
					w.v.Profile.Words("Changed rows are counted for the hottest projects only, and none of theirs changed here."))})
		case has:
			out.on = append(out.on, shardAmount{i, rateAmount(r, window.To)})
		}
	}
	return out
}

// countProjects adds up the writes of the projects, once.
func (w *matrixWrites) countProjects() {
	if w.sums != nil {
		return
	}
	w.sums = map[projectRef]shardAmounts{}
	w.unseen, w.partial = map[string]amount{}, map[projectRef]bool{}
	position := answer.ShardPositions(w.v.Table)
	for _, ns := range w.counts.Counted(w.v.Table) {
		if w.only != nil && w.only.db != ns.Database() {
			continue
		}
		window := w.counts.Window(ns, w.v.WritesWindow())
		none := unknownAmount("notLoaded", noWritesYet)
		if window.Seconds > 0 {
			none = rateAmount(window.None(), window.To)
		}
		w.unseen[ns.Database()] = w.unseen[ns.Database()].plus(none)
		if w.only != nil {
			window = window.OfProject(w.only.id)
		}
		for _, l := range window.ProjectShards(w.v.Table, w.v.Profile) {
			key := projectRef{ns.Database(), l.Project}
			if i, ok := position[l.Shard]; ok {
				w.sums[key] = w.sums[key].plus(i, rateAmount(l.Rate, window.To))
			} else {
				w.partial[key] = true // its shard does not follow from what was counted
			}
		}
	}
}

// ranked are the projects that write.
func (w *matrixWrites) ranked() map[projectRef]shardAmounts {
	if _, none := w.reason(); none {
		return nil
	}
	w.countProjects()
	return w.sums
}

// rank is what projects are sorted by: the writes of one on all shards; negative where they are not known.
func (w *matrixWrites) rank(ref projectRef) (sum float64) {
	seen := w.ranked()[ref]
	if _, none := w.reason(); none || len(seen) == 0 && !w.unseen[ref.db].known {
		return -1
	}
	for _, on := range seen {
		sum += on.value
	}
	return sum
}

// project is the writes of a project by shard.
func (w *matrixWrites) project(ref projectRef) []amount {
	why, none := w.reason()
	if !none {
		w.countProjects()
		why = w.unseen[ref.db]
		if !why.known && why.reason == "" {
			why = unknownAmount("notCounted", writes.NoCountableTitle+".")
		}
	}
	out := make([]amount, len(w.v.Table.Shards))
	for i := range out {
		out[i] = why
	}
	for _, on := range w.sums[ref] {
		on.amount.atLeast = on.amount.atLeast || why.atLeast
		out[on.shard] = on.amount
	}
	for i := range out {
		out[i].atLeast = out[i].atLeast || w.partial[ref] && out[i].known
	}
	return out
}

// sum is what the shards of a project add up to.
func (w *matrixWrites) sum(projectRef) (amount, bool) { return amount{}, false }

// part is the writes of a project to one collection by shard.
func (w *matrixWrites) part(ref projectRef, ns topology.Namespace) []amount {
	out := w.collection(ns)
	window := heat.Window{}
	if w.counts != nil {
		window = w.counts.Window(ns, w.v.WritesWindow())
	}
	for i := range out {
		switch {
		case !out[i].known || out[i].nowhere() && out[i].at.IsZero():
		case window.Method == heat.ChangedRows && window.Total.AtLeast:
			out[i] = unknownAmount("notCounted", w.v.Profile.Words("Changed rows are counted for the hottest projects only."))
		default:
			out[i] = rateAmount(window.None(), window.To)
		}
	}
	position := answer.ShardPositions(w.v.Table)
	for _, l := range window.ProjectShards(w.v.Table, w.v.Profile) {
		if i, ok := position[l.Shard]; ok && l.Project == ref.id {
			out[i] = rateAmount(l.Rate, window.To)
		}
	}
	return out
}

// total is the writes of all projects by shard.
func (w *matrixWrites) total() []amount {
	out := make([]amount, len(w.v.Table.Shards))
	why, none := w.reason()
	if !none {
		for _, ns := range w.counts.Counted(w.v.Table) {
			for i, a := range w.collection(ns) {
				out[i] = out[i].plus(a)
			}
		}
		return out
	}
	for i := range out {
		out[i] = why
	}
	return out
}
