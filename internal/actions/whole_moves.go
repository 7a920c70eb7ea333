package actions

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// wholeMove is a collection that moves as a whole.
type wholeMove struct {
	ns               topology.Namespace
	from, to         string // from is "" when it comes from several shards
	bytes, documents topology.Figure
}

// moveWhole notes that a collection moves from one shard to another.
func (d *plannedCluster) moveWhole(ns topology.Namespace, from, to string) {
	size := d.now.SizeOn(ns, from)
	d.wholes = append(d.wholes, wholeMove{ns: ns, from: from, to: to, bytes: size.Bytes, documents: size.Documents})
}

// wholeBytes is what the whole collections have together.
func (d *draftBuilder) wholeBytes() topology.Figure {
	return d.sumOfWholes(func(m wholeMove) topology.Figure { return m.bytes })
}

func (d *draftBuilder) sumOfWholes(of func(wholeMove) topology.Figure) topology.Figure {
	all := sum{at: d.s.Now}
	for _, m := range d.wholes {
		all.add(of(m))
	}
	return all.figure()
}

// knownBytes is the sum of the sizes that are known, and how many are not.
func (d *plannedCluster) knownBytes() (bytes int64, unknown int) {
	for _, m := range d.wholes {
		if m.bytes.Known {
			bytes += m.bytes.Value
		} else {
			unknown++
		}
	}
	return bytes, unknown
}

// addWholes adds the whole collections to the effect, the largest first.
func (d *draftBuilder) addWholes(e *Effect) {
	if len(d.wholes) == 0 {
		return
	}
	slices.SortStableFunc(d.wholes, func(a, b wholeMove) int {
		if a.bytes.Known != b.bytes.Known {
			if a.bytes.Known {
				return 1
			}
			return -1 // what is not known may be the largest
		}
		if a.bytes.Value != b.bytes.Value {
			return int(max(-1, min(1, b.bytes.Value-a.bytes.Value)))
		}
		return natural.Compare(a.ns, b.ns)
	})
	for _, m := range d.wholes {
		e.Moves = append(e.Moves, MoveEffect{NS: m.ns, From: m.from, To: m.to, Bytes: m.bytes, Documents: m.documents,
			Duration: d.wholeTime(m.bytes, 1)})
	}
	e.Bytes = d.wholeBytes()
	e.Documents = d.sumOfWholes(func(m wholeMove) topology.Figure { return m.documents })
	e.Duration = d.wholeTime(e.Bytes, len(d.wholes))
	e.Shards = d.wholeShards(e.Moves)
}

// wholeTime estimates how long collections take to copy, at the speed of a migration.
// Indexes are built on the recipient too, which is not included.
func (d *draftBuilder) wholeTime(bytes topology.Figure, n int) topology.Figure {
	out := d.moveSpeed().time(bytes, n, d.s.Now)
	if out.Known && slices.ContainsFunc(d.steps, operation.Step.IsBuiltOnResharding) {
		return d.reshardTime(out, n)
	}
	return out
}

// wholeShards returns the shards that give and take, before and after.
func (d *plannedCluster) wholeShards(moves []MoveEffect) []ShardEffect {
	var names []string
	for _, m := range moves {
		for _, s := range []string{m.From, m.To} {
			if s != "" {
				names = append(names, s)
			}
		}
	}
	for _, k := range d.unsharding {
		for shard := range k.Chunks.CountByShard() {
			names = append(names, shard)
		}
	}
	var out []ShardEffect
	for _, shard := range natural.Unique(names) {
		var before, after []topology.Figure
		for _, m := range d.wholes {
			here := d.now.SizeOn(m.ns, shard).Bytes
			before = append(before, here)
			if m.to == shard {
				after = append(after, m.bytes)
			}
		}
		e := ShardEffect{Shard: shard, BytesBefore: sumOf(before...), BytesAfter: sumOf(after...)}
		for _, k := range d.unsharding {
			e.ChunksBefore += int64(k.Chunks.CountByShard()[shard])
			if slices.ContainsFunc(d.wholes, func(m wholeMove) bool { return m.ns == k.NS && m.to == shard }) {
				e.ChunksAfter++
			}
		}
		out = append(out, e)
	}
	return out
}
