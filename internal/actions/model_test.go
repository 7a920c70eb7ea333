package actions

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// model is the simplest cluster that carries out the commands, with the server's rules
// for chunk versions.
type model struct {
	t      testing.TB
	s      Situation
	chunks map[topology.Namespace][]topology.Chunk
	zones  []topology.ZoneRange
	member map[string][]string
	shards []topology.Shard
}

func modelOf(t testing.TB, s Situation) *model {
	m := &model{t: t, s: s, chunks: map[topology.Namespace][]topology.Chunk{}, member: map[string][]string{},
		zones: slices.Clone(s.Table.Zones), shards: s.Table.Shards}
	for _, c := range s.Table.Collections {
		for _, ch := range c.Chunks.All() {
			m.chunks[c.NS] = append(m.chunks[c.NS], ch)
		}
	}
	for _, sh := range s.Table.Shards {
		m.member[sh.Name] = slices.Clone(sh.Zones)
	}
	return m
}

// now returns the situation with a table of the model.
func (m *model) now() Situation {
	s, tab := m.s, *m.s.Table
	tab.Collections = nil
	for _, c := range m.s.Table.Collections {
		next := *c
		chunks, err := topology.BuildChunks(c.Key, slices.Clone(m.chunks[c.NS]))
		must.That(m.t, err == nil, "%s: %v", c.NS, err)
		next.Chunks = chunks
		tab.Collections = append(tab.Collections, &next)
	}
	tab.Zones = slices.Clone(m.zones)
	slices.SortFunc(tab.Zones, func(a, b topology.ZoneRange) int {
		if a.NS != b.NS {
			return byName(m.s.Table.Collection(a.NS), m.s.Table.Collection(b.NS))
		}
		return a.Min.Compare(b.Min)
	})
	tab.Shards = slices.Clone(m.shards)
	for i := range tab.Shards {
		tab.Shards[i].Zones = slices.Clone(m.member[tab.Shards[i].Name])
	}
	s.Table = &tab
	return s
}

func (m *model) key(ns topology.Namespace, d bson.Raw) shardkey.Key {
	k, err := m.s.Table.Collection(ns).Key.Bound(d)
	must.That(m.t, err == nil, "%s: %v", ns, err)
	return k
}

// run runs the steps. Each precondition must be true before its step, each proof after.
func (m *model) run(steps []operation.Step, effect Effect) error {
	for i, s := range steps {
		before := m.now().Table
		for _, f := range s.Needs {
			if diff := f.Against(operation.Fields(before, f)); len(diff) > 0 {
				return fmt.Errorf("step %d, %s: needs %+v", i, s.Op, diff)
			}
		}
		if err := m.do(s, effect); err != nil {
			return fmt.Errorf("step %d, %s: %w", i, s.Op, err)
		}
		after := m.now().Table
		for _, f := range s.Proof {
			if diff := f.Against(operation.Fields(after, f)); len(diff) > 0 {
				return fmt.Errorf("step %d, %s: not proven: %+v", i, s.Op, diff)
			}
		}
	}
	return nil
}

func (m *model) do(s operation.Step, effect Effect) error {
	switch s.Op {
	case operation.OpSplitAt:
		return m.split(s.NS, m.key(s.NS, s.At))
	case operation.OpSplitMedian:
		return m.median(s.NS, m.key(s.NS, s.Min), m.key(s.NS, s.Max))
	case operation.OpMerge:
		return m.merge(s.NS, m.key(s.NS, s.Min), m.key(s.NS, s.Max))
	case operation.OpMove, operation.OpMoveRange:
		return m.move(s, m.key(s.NS, s.Min), m.key(s.NS, s.Max))
	case operation.OpAwait:
		lo, hi := m.key(s.NS, s.Min), m.key(s.NS, s.Max)
		for _, at := range []shardkey.Key{lo, hi} {
			_ = m.split(s.NS, at) // a chunk may begin there already
		}
		for _, mv := range effect.Moves {
			if mv.NS != s.NS || m.key(s.NS, mv.Min).Compare(hi) >= 0 || m.key(s.NS, mv.Max).Compare(lo) <= 0 {
				continue
			}
			for _, ch := range slices.Clone(m.chunks[s.NS]) {
				if ch.Min.Compare(m.key(s.NS, mv.Min)) < 0 || ch.Max.Compare(m.key(s.NS, mv.Max)) > 0 {
					continue
				}
				if err := m.move(operation.Step{Op: operation.OpMove, NS: mv.NS, Shard: mv.To}, ch.Min, ch.Max); err != nil {
					return err
				}
			}
		}
	case operation.OpAddZone:
		m.member[s.Shard] = append(m.member[s.Shard], s.Zone)
	case operation.OpRemoveZone:
		m.member[s.Shard] = slices.DeleteFunc(m.member[s.Shard], func(z string) bool { return z == s.Zone })
	case operation.OpSetRange:
		m.zones = append(m.zones, topology.ZoneRange{NS: s.NS, Zone: s.Zone, Min: m.key(s.NS, s.Min),
			Max: m.key(s.NS, s.Max), RawMin: s.Min, RawMax: s.Max})
	case operation.OpRemoveRange:
		m.zones = slices.DeleteFunc(m.zones, func(z topology.ZoneRange) bool {
			return z.NS == s.NS && string(z.RawMin) == string(s.Min) && string(z.RawMax) == string(s.Max)
		})
	default:
		return fmt.Errorf("the model has no %s", s.Op)
	}
	return nil
}

func (m *model) highest(ns topology.Namespace) (v topology.Version) {
	for _, ch := range m.chunks[ns] {
		if v.Less(ch.Version) {
			v = ch.Version
		}
	}
	return v
}

func (m *model) split(ns topology.Namespace, at shardkey.Key) error {
	for i, ch := range m.chunks[ns] {
		if ch.Min.Compare(at) < 0 && at.Compare(ch.Max) < 0 {
			v := m.highest(ns)
			left, right := ch, ch
			left.Max, right.Min = at, at
			left.Version, right.Version = topology.Version{Major: v.Major, Minor: v.Minor + 1}, topology.Version{Major: v.Major, Minor: v.Minor + 2}
			m.chunks[ns] = slices.Replace(m.chunks[ns], i, i+1, left, right)
			return nil
		}
	}
	return fmt.Errorf("no chunk of %s has the key inside", ns)
}

// median splits between the first two ids that the range can contain.
func (m *model) median(ns topology.Namespace, lo, hi shardkey.Key) error {
	for _, ch := range m.chunks[ns] {
		if ch.Min.Compare(lo) != 0 || ch.Max.Compare(hi) != 0 {
			continue
		}
		p := m.s.Table.Collection(ns).Key
		if prefix, from, to, ok := hashSpan(p, shardkey.Range{Min: lo, Max: hi}); hashedLast(p) && ok {
			if points, _ := hashPoints(p, prefix, from, to, 2); len(points) == 1 {
				return m.split(ns, points[0])
			}
		}
		for n := range 255 {
			values := []any{oid(byte(n)), int64(0)}
			if hashedLast(p) && p.Len() == 1 {
				values = []any{int64(n-128) << 55}
			}
			for _, v := range [][]any{values[:1], values} {
				if len(v) <= p.Len() {
					if at := keyOf(m.t, p, v...); lo.Compare(at) < 0 && at.Compare(hi) < 0 {
						return m.split(ns, at)
					}
				}
			}
		}
		return nil
	}
	return fmt.Errorf("no chunk of %s has these bounds", ns)
}

func (m *model) merge(ns topology.Namespace, lo, hi shardkey.Key) error {
	first := slices.IndexFunc(m.chunks[ns], func(ch topology.Chunk) bool { return ch.Min.Compare(lo) == 0 })
	last := slices.IndexFunc(m.chunks[ns], func(ch topology.Chunk) bool { return ch.Max.Compare(hi) == 0 })
	if first < 0 || last <= first {
		return fmt.Errorf("no chunks of %s fill the range", ns)
	}
	one := m.chunks[ns][first]
	for _, ch := range m.chunks[ns][first : last+1] {
		if ch.Shard != one.Shard {
			return fmt.Errorf("chunks on %s and %s", one.Shard, ch.Shard)
		}
	}
	v := m.highest(ns)
	one.Max, one.Version = hi, topology.Version{Major: v.Major, Minor: v.Minor + 1}
	m.chunks[ns] = slices.Replace(m.chunks[ns], first, last+1, one)
	return nil
}

// move refuses what servers refuse: bounds that are not those of a chunk (before 6.0, and
// in moveChunk), a draining recipient, and one outside of the range's zone.
func (m *model) move(s operation.Step, lo, hi shardkey.Key) error {
	if s.Op == operation.OpMoveRange && !m.s.Release.AtLeast(6, 0, 0) {
		return fmt.Errorf("no such command")
	}
	for _, sh := range m.shards {
		if sh.Name == s.Shard && sh.Draining {
			return fmt.Errorf("%s is draining", s.Shard)
		}
	}
	for _, z := range m.zones {
		if z.NS == s.NS && z.Min.Compare(hi) < 0 && z.Max.Compare(lo) > 0 && !slices.Contains(m.member[s.Shard], z.Zone) {
			return fmt.Errorf("%s is not in the zone %s", s.Shard, z.Zone)
		}
	}
	if s.Op == operation.OpMoveRange {
		for _, at := range []shardkey.Key{lo, hi} {
			_ = m.split(s.NS, at)
		}
	}
	i := slices.IndexFunc(m.chunks[s.NS], func(ch topology.Chunk) bool { return ch.Min.Compare(lo) == 0 && ch.Max.Compare(hi) == 0 })
	if i < 0 {
		return fmt.Errorf("no chunk of %s has these bounds", s.NS)
	}
	donor, v := m.chunks[s.NS][i].Shard, m.highest(s.NS)
	m.chunks[s.NS][i].Shard, m.chunks[s.NS][i].Version = s.Shard, topology.Version{Major: v.Major + 1}
	for j := range m.chunks[s.NS] {
		if m.chunks[s.NS][j].Shard == donor {
			m.chunks[s.NS][j].Version = topology.Version{Major: v.Major + 1, Minor: 1}
			break
		}
	}
	return nil
}

// picture is the state that must be the same after a plan and its undo: bounds, owners,
// zones and their shards.
func (m *model) picture() string {
	var out []string
	for ns, chunks := range m.chunks {
		for _, ch := range chunks {
			out = append(out, fmt.Sprintf("%s %s %s", ns, m.s.Table.Collection(ns).Key.Display(ch.Min), ch.Shard))
		}
	}
	for _, z := range m.zones {
		out = append(out, fmt.Sprintf("zone %s %s %s %s", z.NS, z.Zone, z.RawMin, z.RawMax))
	}
	for _, sh := range slices.Sorted(maps.Keys(m.member)) {
		z := slices.Sorted(slices.Values(m.member[sh]))
		out = append(out, fmt.Sprintf("shard %s %v", sh, z))
	}
	slices.Sort(out)
	text := ""
	for _, line := range out {
		text += line + "\n"
	}
	return text
}
