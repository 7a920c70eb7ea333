package actions

import (
	"cmp"
	"maps"
	"slices"

	"shardboard/internal/topology"
)

// tableAfter returns the table as it will be after the steps, with estimated sizes.
func (d *draftBuilder) tableAfter() *topology.Table {
	t := *d.s.Table
	t.Shards = d.shards
	t.Collections = slices.Clone(t.Collections)
	for i, c := range t.Collections {
		k := d.futures[c.NS]
		if k == nil {
			continue
		}
		next := *c
		if next.Chunks = k.chunks(); next.Chunks == nil {
			next.Chunks = c.Chunks
		}
		t.Collections[i] = &next
	}
	if len(d.zones) > 0 {
		var zones []topology.ZoneRange
		for _, z := range t.Zones {
			if _, changed := d.zones[z.NS]; !changed {
				zones = append(zones, z)
			}
		}
		for _, ns := range slices.Sorted(maps.Keys(d.zones)) {
			zones = append(zones, d.zones[ns]...)
		}
		slices.SortStableFunc(zones, func(a, b topology.ZoneRange) int {
			return cmp.Or(cmp.Compare(a.NS, b.NS), a.Min.Compare(b.Min))
		})
		t.Zones = zones
	}
	t.Sizes = d.sizesAfter()
	return &t
}

// sizesAfter returns the sizes per shard with the estimated bytes of the moves.
func (d *draftBuilder) sizesAfter() map[topology.Namespace]topology.Sizes {
	out := map[topology.Namespace]topology.Sizes{}
	maps.Copy(out, d.s.Table.Sizes)
	for _, k := range d.movedCollections() {
		s := out[k.c.NS]
		if s.At.IsZero() {
			continue
		}
		shards := map[string]topology.Size{}
		for _, sh := range d.shards {
			shards[sh.Name] = d.s.Table.SizeOn(k.c.NS, sh.Name)
		}
		for _, m := range d.moves {
			if m.k != k {
				continue
			}
			moved := d.estimate(k.c, m.lo, m.hi, bytesOf)
			from, to := shards[m.from], shards[m.to]
			from.Bytes, to.Bytes = withMoved(from.Bytes, moved, false), withMoved(to.Bytes, moved, true)
			shards[m.from], shards[m.to] = from, to
		}
		s.Shards = shards
		out[k.c.NS] = s
	}
	return out
}
