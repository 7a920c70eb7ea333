package spread

import (
	"slices"

	"shardboard/internal/api"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	readsOfPast  = "Reads of past times are not kept."
	readsUnknown = "The shard's counters have not been read twice since its primary was elected, or the last read failed."
)

// reads are the reads of a collection by shard, by the servers' own counters.
func (m *matrix) reads(ns topology.Namespace) spread {
	if why, none := m.noReads(ns); none {
		return everywhere(why)
	}
	out := spread{others: nothing()} // no read of it goes there
	by, chunks := m.writes.counts.Load(ns), m.v.Table.Collection(ns).Chunks.CountByShard()
	for i, s := range m.v.Table.Shards {
		switch l := by[s.Name]; {
		case chunks[s.Name] == 0:
		case !l.Known:
			out.on = append(out.on, shardAmount{i, unknownAmount("notReported", readsUnknown)})
		default:
			n := l.ReadsPerSecond
			out.on = append(out.on, shardAmount{i, amount{known: true, value: n, low: n, high: n, at: l.To, mean: l.ReadLatency}})
		}
	}
	return out
}

// noReads is why no reads of a collection are known; false if they are of some shard.
func (m *matrix) noReads(ns topology.Namespace) (amount, bool) {
	w := m.writes
	c, counted := w.coverage[ns]
	switch {
	case m.v.Past != nil:
		return unknownAmount("notKept", readsOfPast), true
	case w.counts == nil:
		return unknownAmount("notReported", "Reads are not counted here."), true
	case !counted || c.Not != "":
		return unknownAmount("notCounted", "Counters are read only of collections whose writes are counted."), true
	case w.counts.Load(ns) == nil:
		return unknownAmount("notLoaded", "The servers' counters have not been read yet."), true
	case m.v.Table.Collection(ns).Chunks == nil:
		return unknownAmount("notLoaded", "Its chunks have not been read yet."), true
	}
	return amount{}, false
}

// readsOfProject is a project's row of reads, which nobody knows.
func (m *matrix) readsOfProject() []amount {
	return slices.Repeat([]amount{unknownAmount("readsByCollection", "")}, len(m.v.Table.Shards))
}

// readsOfProjects says why there is no matrix of them.
func readsOfProjects(p *profile.Profile) api.State {
	return api.State{Code: "empty", Title: p.Words("Which project reads is not known"),
		Detail: "Servers count reads by collection. Reads of collections by shard are shown."}
}
