package problems

import (
	"cmp"
	"maps"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/natural"
	"shardboard/internal/rules"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// leastGain is by which part of all counted writes a plan has to lower what the busiest shard takes, to be offered
// against a problem of writes.
const leastGain = 0.1

// expectedWrites are the counted writes per second of the shards before a plan, and as expected after it if the same
// keys are written as often.
type expectedWrites struct {
	known         bool
	before, after map[string]float64
	total         float64
}

// expectWrites computes what a plan does to the writes of the shards, from what its draft moves and from the counts of
// the time that the problem's own figures are of.
func expectWrites(v answer.View, p rules.Problem, k actions.Kind, args map[string]string, t offering.Trial) (out expectedWrites) {
	v = v.Computable()
	if v.Counts == nil || v.Past != nil || v.Table == nil || !t.Drafted {
		return out
	}
	windows := map[topology.Namespace]heat.Window{}
	out.before = map[string]float64{}
	for _, ns := range v.Counts.Counted(v.Table) {
		w := v.Counts.Window(ns, answer.DefaultWindow)
		if !p.From.IsZero() {
			w = v.Counts.Between(ns, p.From, v.Now)
		}
		if w.Seconds == 0 {
			continue
		}
		windows[ns], out.known = w, true
		for _, l := range w.Shards(v.Table, v.Profile) {
			out.before[l.Shard] += l.Rate.PerSecond
			out.total += l.Rate.PerSecond
		}
	}
	out.after = maps.Clone(out.before)
	for _, m := range t.Moves {
		c := v.Table.Collection(m.NS)
		w, counted := windows[m.NS]
		if c == nil || !counted {
			continue // none of the counted writes
		}
		lo, err1 := c.Key.Bound(m.Min)
		hi, err2 := c.Key.Bound(m.Max)
		if err1 != nil || err2 != nil {
			out.known = false
			continue
		}
		out.shift(m.From, m.To, w.In(v.Table, v.Profile, shardkey.Range{Min: lo, Max: hi}).PerSecond)
	}
	if k == actions.SplitHot && len(t.Moves) == 0 {
		for _, s := range t.Hot {
			out.halve(v, windows[s.NS], s, args["to"])
		}
	}
	return out
}

func (e *expectedWrites) shift(from, to string, rate float64) {
	if from != to {
		e.after[from], e.after[to] = max(e.after[from]-rate, 0), e.after[to]+rate
	}
}

// halve expects what a plan to split a hot chunk will choose when it is made: the half and the recipient that leave the
// writes most even.
func (e *expectedWrites) halve(v answer.View, w heat.Window, s actions.Span, to string) {
	c := v.Table.Collection(s.NS)
	lower, upper, ok := w.Halves(v.Table, v.Profile, shardkey.Range{Min: s.Min, Max: s.Max})
	if c == nil || !ok {
		e.known = false
		return
	}
	i, ch := c.Chunks.Find(s.Min)
	if to == "" {
		free := *c
		free.MigrationsBlocked = false // the plan's own checks say that, and this what it does when they pass
		if to = writes.Calmest(v.Table, &free, i, min(lower, upper), e.after); to == "" {
			return
		}
	}
	half := lower
	if top := func(rate float64) float64 { return max(e.after[ch.Shard]-rate, e.after[to]+rate) }; top(upper) < top(lower) {
		half = upper
	}
	e.shift(ch.Shard, to, half)
}

// gain is by which part of all writes the busiest shard's share falls; negative where it rises.
func (e expectedWrites) gain() float64 {
	if e.total <= 0 {
		return 0
	}
	return (most(e.before) - most(e.after)) / e.total
}

// moved is how many writes per second change their shard.
func (e expectedWrites) moved() (rate float64) {
	for shard, after := range e.after {
		rate += max(after-e.before[shard], 0)
	}
	return rate
}

func most(by map[string]float64) (out float64) {
	for _, rate := range by {
		out = max(out, rate)
	}
	return out
}

// list are the shards that change, the busiest first.
func (e expectedWrites) list() (out []api.WriteEffect) {
	for shard, after := range e.after {
		if before := e.before[shard]; before != after {
			out = append(out, api.WriteEffect{Shard: shard, PerSecondBefore: before, PerSecondAfter: after})
		}
	}
	slices.SortFunc(out, func(a, b api.WriteEffect) int {
		return cmp.Or(cmp.Compare(b.PerSecondBefore, a.PerSecondBefore), natural.Compare(a.Shard, b.Shard))
	})
	return out
}

// text is "shard-rs-2 62 → 31 writes/s, shard-rs-1 8 → 39".
func (e expectedWrites) text() string {
	text := ""
	for i, w := range e.list() {
		if i > 0 {
			text += ", "
		}
		text += w.Shard + " " + format.PerSecond(w.PerSecondBefore) + " → " + format.PerSecond(w.PerSecondAfter)
		if i == 0 {
			text += " writes/s"
		}
	}
	return text
}

// tooLittle says why a plan does not help against a problem of writes; "" where it does, or that is not known.
func (e expectedWrites) tooLittle(t offering.Trial) string {
	switch {
	case t.Drafted && len(t.Moves)+len(t.Hot) == 0, e.known && e.moved() == 0:
		return "It moves none of these writes."
	case e.known && e.gain() <= 0:
		return "Another shard would then take as much: " + e.text() + "."
	case e.known && e.gain() < leastGain:
		return "It lowers the busiest shard's share only from " + format.Share(most(e.before)/e.total) + " to " +
			format.Share(most(e.after)/e.total) + "."
	}
	return ""
}
