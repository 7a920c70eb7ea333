package actions

import (
	"reflect"
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// BalancerEffect is what the balancer moves because of a plan, beyond what it would move anyway.
type BalancerEffect struct {
	Chunks topology.Figure
	Bytes  topology.Figure
}

// Whole is the effect of a plan whoever carries it out: what its commands change and what the balancer moves
// because of them.
func (e Effect) Whole() (chunks, bytes topology.Figure) {
	if e.ByBalancer == nil {
		return e.Chunks, e.Bytes
	}
	return sumOf(e.Chunks, e.ByBalancer.Chunks), sumOf(e.Bytes, e.ByBalancer.Bytes)
}

// sumOfBalancer adds what the balancer moves because of several plans; nil for nothing.
func sumOfBalancer(all []*BalancerEffect) *BalancerEffect {
	var chunks, bytes []topology.Figure
	for _, b := range all {
		chunks, bytes = append(chunks, b.Chunks), append(bytes, b.Bytes)
	}
	if len(all) == 0 {
		return nil
	}
	return &BalancerEffect{sumOf(chunks...), sumOf(bytes...)}
}

// byBalancer applies the balancer's rules to the tables before and after the steps; nil when it moves no more
// than before. What it has to move, because of zones and draining, is counted by chunk; what evens a collection
// out is counted where zones or the balancer's settings change. A collection that the balancer does not touch
// now counts as one that it does, unless the plan itself lets it: a range in a zone is followed sooner or later.
func (d *draftBuilder) byBalancer() *BalancerEffect {
	if !balance.ReleaseOf(d.s.Table.ServerInfo.Version).Known() {
		return nil
	}
	after := d.tableAfter()
	settings := d.applySettings(after)
	drains := slices.ContainsFunc(d.steps, func(s operation.Step) bool { return s.Effects().Drains })
	zoned := !slices.EqualFunc(d.s.Table.Shards, d.shards, func(a, b topology.Shard) bool {
		return a.Draining == b.Draining && slices.Equal(a.Zones, b.Zones)
	})
	var all []*BalancerEffect
	for i, c := range d.s.Table.Collections {
		next := after.Collections[i]
		_, ranges := d.zones[c.NS]
		opened := !balances(d.s.Table, c) && balances(after, next) && settings
		levels := opened || ranges || zoned && len(d.s.Table.ZonesOf(c.NS)) > 0 || c.MaxChunkBytes != next.MaxChunkBytes
		if c.Chunks == nil || next.Chunks == nil || c.Chunks.Len() == 0 {
			continue
		}
		if e := d.defragmented(c); e != nil {
			all = append(all, e)
			continue
		}
		if !levels && !drains && d.futures[c.NS] == nil {
			continue
		}
		if e := d.addedMoves(after, c, next, opened, levels); e != nil {
			all = append(all, e)
		}
	}
	return sumOfBalancer(all)
}

// defragmented is what the balancer moves of a collection that the plan lets it defragment: how much depends on the
// sizes of single chunks, which it measures itself. nil if the plan does not.
func (d *draftBuilder) defragmented(c *topology.Collection) *BalancerEffect {
	if c.Chunks.Len() < 2 || !slices.ContainsFunc(d.steps, func(s operation.Step) bool { return s.Unbounded() && s.NS == c.NS }) {
		return nil
	}
	return &BalancerEffect{topology.Figure{Reason: reasonNotMeasured}, topology.Figure{Reason: reasonNotMeasured}}
}

// applySettings changes what steps change about whether the balancer may move. It reports whether any step does.
func (d *draftBuilder) applySettings(t *topology.Table) (any bool) {
	for _, s := range d.steps {
		if s.Restores {
			continue
		}
		if shard := slices.IndexFunc(t.Shards, func(x topology.Shard) bool { return x.Name == s.Shard }); s.Effects().Drains && shard >= 0 {
			t.Shards = slices.Clone(t.Shards)
			t.Shards[shard].Draining = true
		}
		if !s.Steers() {
			continue
		}
		if s.NS == "" {
			was := t.Balancer
			s.Steer(&t.Balancer, nil)
			any = any || !reflect.DeepEqual(was, t.Balancer)
		} else if i := slices.IndexFunc(t.Collections, func(c *topology.Collection) bool { return c.NS == s.NS }); i >= 0 {
			c := *t.Collections[i]
			s.Steer(&t.Balancer, &c)
			t.Collections, any = slices.Clone(t.Collections), true
			t.Collections[i] = &c
		}
	}
	return any
}

// balances reports whether the balancer moves chunks of a collection at all.
func balances(t *topology.Table, c *topology.Collection) bool {
	return t.Balancer.Moves() && !c.NoBalance && !c.MigrationsBlocked && !c.Resharding
}

// addedMoves is what the balancer moves of a collection after the steps and would not without them.
func (d *draftBuilder) addedMoves(after *topology.Table, c, next *topology.Collection, opened, levels bool) *BalancerEffect {
	was, is := balance.PlanOf(balance.Situation{Table: d.s.Table}, c), balance.PlanOf(balance.Situation{Table: after}, next)
	var before []shardkey.Range
	if !opened {
		was.Misplaced(func(lo, hi shardkey.Key, _ string) { before = append(before, shardkey.Range{Min: lo, Max: hi}) })
	}
	moved, n := map[string]int{}, 0
	is.Misplaced(func(lo, _ shardkey.Key, shard string) {
		for len(before) > 0 && before[0].Max.Compare(lo) <= 0 { // both come in key order
			before = before[1:]
		}
		if len(before) == 0 || before[0].Min.Compare(lo) > 0 {
			moved[shard]++
			n++
		}
	})
	excess, excessBytes, known := int64(0), int64(0), true
	if levels {
		excess, excessBytes, known = is.Excess()
		if !opened && known {
			chunks, bytes, measured := was.Excess()
			excess, excessBytes, known = max(0, excess-chunks), max(0, excessBytes-bytes), measured
		}
	}
	switch {
	case !known:
		return &BalancerEffect{topology.Figure{Reason: reasonNotLoaded}, topology.Figure{Reason: reasonNotLoaded}}
	case n == 0 && excess == 0:
		return nil
	}
	return &BalancerEffect{
		Chunks: topology.Figure{Known: true, Value: int64(n) + excess, Method: methodRouting, At: d.s.Table.Health[topology.PartRouting].At},
		Bytes:  d.shareOf(c, moved, excess, excessBytes),
	}
}

// shareOf is about how many bytes so many chunks of each shard have, and further ones from anywhere, whose
// bytes are 0 if they are not known.
func (d *draftBuilder) shareOf(c *topology.Collection, moved map[string]int, further, bytes int64) topology.Figure {
	counts := c.Chunks.CountByShard()
	var total, everything sum
	chunks := 0
	for shard, n := range counts {
		size := d.s.Table.SizeOn(c.NS, shard).Bytes
		everything.add(size)
		chunks += n
		if f := perChunk(size, n); moved[shard] > 0 {
			f.Value, f.PlusMinus, f.Exact = f.Value*int64(moved[shard]), f.PlusMinus*int64(moved[shard]), false
			total.add(f)
		}
	}
	if further > 0 {
		f := topology.Figure{Known: true, Value: bytes, Method: methodShare, At: d.s.Now}
		if bytes == 0 {
			f = perChunk(everything.figure(), chunks)
			f.Value, f.Exact = f.Value*further, false
		}
		total.add(f)
	}
	return total.figure()
}
