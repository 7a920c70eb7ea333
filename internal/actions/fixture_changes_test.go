package actions

import (
	"slices"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// setSizes sets the megabytes of a collection on each shard.
func setSizes(tab *topology.Table, ns topology.Namespace, mb ...int64) {
	s := topology.Sizes{NS: ns, At: now, Shards: map[string]topology.Size{}, Sharded: true}
	for i, n := range mb {
		exact := topology.Figure{Known: true, Exact: true, Method: "collStats", At: now}
		size := topology.Size{Bytes: exact, Documents: exact}
		size.Bytes.Value, size.Documents.Value = n*megabyte, n*1000
		s.Shards[tab.Shards[i].Name] = size
	}
	tab.Sizes[ns] = s
}

// setDisks gives each shard a disk of 10,000 MB with this much used.
func setDisks(tab *topology.Table, mb ...int64) {
	tab.Disks = map[string]topology.Disk{}
	for i, n := range mb {
		f := topology.Figure{Known: true, Exact: true, Method: "dbStats", At: now}
		d := topology.Disk{Used: f, Total: f}
		d.Used.Value, d.Total.Value = n*megabyte, 10_000*megabyte
		tab.Disks[tab.Shards[i].Name] = d
	}
}

func collectionIn(s *Situation, ns topology.Namespace) *topology.Collection {
	return s.Table.Collection(ns)
}

// withOwners sets the shards of a collection's chunks, one letter per chunk.
func withOwners(t testing.TB, ns topology.Namespace, owners string) func(*Situation) {
	return func(s *Situation) {
		c := collectionIn(s, ns)
		var rows []topology.Chunk
		for i, ch := range c.Chunks.All() {
			o := rune(owners[i])
			ch.Shard, ch.Jumbo = string(o|0x20), o < 'a'
			rows = append(rows, ch)
		}
		chunks, err := topology.BuildChunks(c.Key, rows)
		must.Do(t, err)
		c.Chunks = chunks
	}
}

// zone adds shards to a zone and assigns a range of a collection to it.
func zone(t testing.TB, name, shards string, ns topology.Namespace, lo, hi func(p shardkey.Pattern) shardkey.Key) func(*Situation) {
	return func(s *Situation) {
		for i := range s.Table.Shards {
			if slices.Contains([]byte(shards), s.Table.Shards[i].Name[0]) {
				s.Table.Shards[i].Zones = append(s.Table.Shards[i].Zones, name)
			}
		}
		c := collectionIn(s, ns)
		z := topology.ZoneRange{NS: ns, Zone: name, Min: lo(c.Key), Max: hi(c.Key)}
		z.RawMin, z.RawMax = raw(t, c, z.Min), raw(t, c, z.Max)
		s.Table.Zones = append(s.Table.Zones, z)
		slices.SortFunc(s.Table.Zones, func(a, b topology.ZoneRange) int {
			if a.NS != b.NS {
				return byName(&topology.Collection{Meta: topology.Meta{NS: a.NS}}, &topology.Collection{Meta: topology.Meta{NS: b.NS}})
			}
			return a.Min.Compare(b.Min)
		})
	}
}

func from(t testing.TB, n byte) func(shardkey.Pattern) shardkey.Key {
	return func(p shardkey.Pattern) shardkey.Key { return keyOf(t, p, oid(n)) }
}

func balancing(s *Situation) { s.Table.Balancer.Mode, s.Table.Balancer.Stopped = "full", false }

func draining(shard string) func(*Situation) {
	return func(s *Situation) { s.Table.Shard(shard).Draining = true }
}
