package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"shardboard/internal/topology"
)

// pastFrame is a decoded frame: a table without chunks, and its collections.
type pastFrame struct {
	table *topology.Table
	metas []topology.Meta
}

func readFrame(body []byte) (pastFrame, error) {
	f := pastFrame{table: &topology.Table{}}
	b, err := unpack(body)
	if err != nil {
		return f, err
	}
	f.metas, err = decodeFrame(b, f.table)
	return f, err
}

func (f pastFrame) meta(ns topology.Namespace) (topology.Meta, bool) {
	i, ok := slices.BinarySearchFunc(f.metas, ns, func(m topology.Meta, ns topology.Namespace) int { return cmp.Compare(m.NS, ns) })
	if !ok {
		return topology.Meta{}, false
	}
	return f.metas[i], true
}

// diffFrames returns the changes other than of chunks.
func diffFrames(before, after pastFrame, at time.Time) []Item {
	var out []Item
	add := func(i Item) {
		i.At = at
		out = append(out, i)
	}
	diffShards(before.table, after.table, add)
	diffDatabases(before.table, after.table, add)
	diffCollections(before, after, add)
	for _, z := range zonesBeyond(after.table, before.table) {
		add(zoneItem(ZoneAdded, z, after))
	}
	for _, z := range zonesBeyond(before.table, after.table) {
		add(zoneItem(ZoneRemoved, z, before))
	}
	diffBalancer(before.table.Balancer, after.table.Balancer, add)
	return out
}

func diffShards(before, after *topology.Table, add func(Item)) {
	for _, s := range before.Shards {
		if after.Shard(s.Name) == nil {
			add(Item{Kind: ShardRemoved, Subject: s.Name})
		}
	}
	for _, s := range after.Shards {
		old := before.Shard(s.Name)
		switch {
		case old == nil:
			add(Item{Kind: ShardAdded, Subject: s.Name})
			continue
		case s.Draining && !old.Draining:
			add(Item{Kind: ShardDraining, Subject: s.Name})
		case !s.Draining && old.Draining:
			add(Item{Kind: ShardKept, Subject: s.Name})
		}
		if !slices.Equal(old.Zones, s.Zones) {
			add(Item{Kind: ShardZones, Subject: s.Name, From: strings.Join(old.Zones, ", "), To: strings.Join(s.Zones, ", ")})
		}
	}
}

func diffDatabases(before, after *topology.Table, add func(Item)) {
	for _, d := range before.Databases {
		if p := after.Primary(d.Name); p == "" {
			add(Item{Kind: DatabaseDropped, Subject: d.Name, From: d.Primary})
		} else if p != d.Primary {
			add(Item{Kind: PrimaryMoved, Subject: d.Name, From: d.Primary, To: p})
		}
	}
	for _, d := range after.Databases {
		if before.Primary(d.Name) == "" {
			add(Item{Kind: DatabaseCreated, Subject: d.Name, To: d.Primary})
		}
	}
}

func diffCollections(before, after pastFrame, add func(Item)) {
	for _, m := range before.metas {
		if _, still := after.meta(m.NS); !still {
			add(Item{Kind: CollectionDropped, NS: m.NS})
		}
	}
	for _, m := range after.metas {
		old, was := before.meta(m.NS)
		switch {
		case !was:
			add(Item{Kind: CollectionCreated, NS: m.NS})
		case old.Incarnation != m.Incarnation:
			add(Item{Kind: CollectionRemade, NS: m.NS})
		case !old.Equal(m):
			add(Item{Kind: CollectionChanged, NS: m.NS})
		}
	}
}

// zoneItem includes the collection's key at that time, if it was sharded.
func zoneItem(k Kind, z topology.ZoneRange, f pastFrame) Item {
	out := Item{Kind: k, NS: z.NS, Subject: z.Zone, RawMin: z.RawMin, RawMax: z.RawMax}
	if m, ok := f.meta(z.NS); ok && !z.Min.IsZero() {
		out.Key, out.Min, out.Max = m.Key, z.Min, z.Max
	}
	return out
}

func diffBalancer(before, after topology.Balancer, add func(Item)) {
	if !before.Known || !after.Known {
		return // an unknown state cannot be compared
	}
	switch {
	case after.Enabled() && !before.Enabled():
		add(Item{Kind: BalancerOn})
	case !after.Enabled() && before.Enabled():
		add(Item{Kind: BalancerOff})
	}
	before.Stopped, after.Stopped = false, false
	before.StatusKnown, after.StatusKnown = false, false
	if before.Mode == "off" || after.Mode == "off" {
		before.Mode, after.Mode = "", ""
	}
	if before.Unrecorded || after.Unrecorded {
		before, after = before.WithoutLater(), after.WithoutLater()
	}
	if !settings(before).Equal(settings(after)) {
		add(Item{Kind: BalancerChanged})
	}
}
