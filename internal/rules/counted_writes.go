package rules

import (
	"slices"

	"shardboard/internal/format"
	"shardboard/internal/heat"
	"shardboard/internal/message"
)

// A project is hot from this share of its database's writes and BoundHotRate on, counted in
// at least so many rows and seconds.
const (
	hotShare   = 0.5
	hotRows    = 50
	hotSeconds = 60
	// From this share and BoundWarnRate on everything else on the shard becomes slower.
	hotMuch = 0.6
)

// Window is the time that figures of writes are of, or the time since a problem began where that is shorter.
const Window = heat.UsualWindow

// countable records the sharded collections whose writes are not counted because the profile does not say how they are
// written to, and returns false when none is counted.
func (ev *evaluation) countable() bool {
	if ev.Profile == nil || ev.Past || !ev.Counting {
		return true // another reason
	}
	var without []string
	counted, others := false, false
	for _, c := range ev.cover() {
		switch {
		case c.Not == "":
			counted = true
		case c.Not == heat.Unprofiled:
			without = append(without, string(c.NS))
		default:
			others = others || c.Not != heat.Unsharded
		}
	}
	switch {
	case !counted && (others || len(without) > 0):
		ev.cannot("", message.New("noneCountable",
			"The profile names no sharded collection whose writes can be counted, such as one with writes: appended."))
		return false
	case len(without) > 0 && ev.rule != HotProject:
		pattern := message.Plural(len(without), "The profile does not say how {list} is written to, so its writes are not counted.",
			"The profile does not say how {list} are written to, so their writes are not counted.")
		if more := len(without) - 3; more > 0 {
			without = append(without[:3], format.Count(int64(more))+" more")
		}
		ev.cannot("", message.New("unprofiled", pattern, message.Text("list", format.JoinWords(without))))
	}
	return true
}

// uncounted records why writes cannot be judged, and returns true when they cannot.
func (ev *evaluation) uncounted() bool {
	switch {
	case ev.Past:
		ev.cannot("", message.New("notKept", "Not kept in history: it can be checked for the present only."))
	case !ev.Counting:
		ev.cannot("", message.New("notCounting", "Writes are not counted here."))
	case !slices.ContainsFunc(ev.Writes, func(w Writes) bool { return w.Seconds > 0 }):
		ev.cannot("", nothingCounted())
	default:
		return false
	}
	return true
}

// writesOf is the busiest collection of a database; rates and shares are of it alone.
// While a collection of the database cannot be counted, that one may be the busiest, so
// there is no answer.
func (ev *evaluation) writesOf(db string) (best Writes, ok bool) {
	for _, w := range ev.Writes {
		if w.NS.Database() != db {
			continue
		}
		if w.Failed && w.Seconds < ev.neededSeconds() {
			ev.cannot(db, uncountable(w.NS))
			return best, false
		}
		if !ok || w.Total.PerSecond > best.Total.PerSecond {
			best, ok = w, true
		}
	}
	if !ok {
		ev.cannot(db, nothingCounted())
		return best, false
	}
	return best, true
}

// emptiest is the shard with the least data of a database, apart from one shard.
func (ev *evaluation) emptiest(db, but string) string {
	best, bytes := "", int64(-1)
	for _, s := range ev.Table.Shards {
		if s.Name == but || s.Draining {
			continue
		}
		total := int64(0)
		for _, c := range ev.sharded() {
			if c.NS.Database() == db {
				total += ev.Table.SizeOn(c.NS, s.Name).Bytes.Value
			}
		}
		if bytes < 0 || total < bytes {
			best, bytes = s.Name, total
		}
	}
	return best
}

// shardWrites is what each shard takes of all collections that are counted; a
// shard that owns nothing of them takes nothing.
func (ev *evaluation) shardWrites() (by map[string]heat.Rate, total heat.Rate) {
	return shardWrites(ev.Writes)
}

func shardWrites(writes []Writes) (by map[string]heat.Rate, total heat.Rate) {
	by = map[string]heat.Rate{}
	total.Exact = true
	for _, w := range writes {
		for _, line := range w.Shards {
			r := by[line.Shard]
			r.PerSecond += line.Rate.PerSecond
			r.Rows += line.Rate.Rows
			r.PlusMinus += line.Rate.PlusMinus
			r.AtLeast = r.AtLeast || line.Rate.AtLeast
			by[line.Shard] = r
			total.PerSecond += line.Rate.PerSecond
			total.Rows += line.Rate.Rows
		}
	}
	return by, total
}
