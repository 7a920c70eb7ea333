package holdings

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

type projectKey struct {
	db string
	id bson.ObjectID
}

// tally adds up the cells of one project.
type tally struct {
	rows, bytes float64
	shards      map[string]*[2]float64
}

func (s *tally) add(shard string, rows, bytes float64) {
	if s.shards == nil {
		s.shards = map[string]*[2]float64{}
	}
	if s.shards[shard] == nil {
		s.shards[shard] = &[2]float64{}
	}
	s.shards[shard][0] += rows
	s.shards[shard][1] += bytes
	s.rows, s.bytes = s.rows+rows, s.bytes+bytes
}

func (s *tally) cells() []Cell {
	out := make([]Cell, 0, len(s.shards))
	for shard, v := range s.shards {
		out = append(out, Cell{Shard: shard, Rows: int64(math.Round(v[0])), Bytes: int64(math.Round(v[1]))})
	}
	slices.SortFunc(out, func(a, b Cell) int { return natural.Compare(a.Shard, b.Shard) })
	return out
}

// build lists the projects and sums up the shards.
func (s *Snapshot) build() {
	byProject := map[projectKey]*tally{}
	for _, p := range s.parts {
		if p.placed == nil {
			continue
		}
		db := p.c.NS.Database()
		for id, cells := range p.placed.cells {
			for shard, c := range cells {
				if c.rows == 0 { // its rows have moved away
					continue
				}
				k := projectKey{db, id}
				if byProject[k] == nil {
					byProject[k] = &tally{}
				}
				rows, bytes := p.values(shard, c)
				byProject[k].add(shard, rows, bytes)
			}
		}
	}
	keys := make([]projectKey, 0, len(byProject))
	for k := range byProject {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b projectKey) int {
		return cmp.Or(cmp.Compare(byProject[b].bytes, byProject[a].bytes), strings.Compare(a.db, b.db), slices.Compare(a.id[:], b.id[:]))
	})
	var others tally
	for i, k := range keys {
		one := byProject[k]
		if i >= MaxProjects {
			for shard, v := range one.shards {
				others.add(shard, v[0], v[1])
			}
			continue
		}
		s.Projects = append(s.Projects, Project{
			DB: k.db, ID: k.id, Rows: int64(math.Round(one.rows)), Bytes: int64(math.Round(one.bytes)), Shards: one.cells(),
		})
	}
	s.Others = Others{
		Projects: max(0, len(keys)-MaxProjects), Shards: others.cells(),
		Rows: int64(math.Round(others.rows)), Bytes: int64(math.Round(others.bytes)),
	}
	for _, shard := range s.table.Shards {
		s.Totals = append(s.Totals, s.totalOf(shard.Name))
	}
}

// totalOf adds up the statistics of a shard. A sum with an unknown part is unknown.
func (s *Snapshot) totalOf(shard string) Total {
	out := Total{Shard: shard}
	rows := topology.Figure{Known: true, Exact: true, Method: "collStats"}
	bytes := rows
	for _, p := range s.parts {
		if !p.c.Measured() || p.sharded == nil && p.primary != shard {
			continue
		}
		if p.sharded == nil {
			rows, bytes = plus(rows, p.total.Rows), plus(bytes, p.total.Bytes)
			continue
		}
		rows = plus(rows, onShard(p.total.ByShard, shard, p.total.Rows))
		bytes = plus(bytes, onShard(p.total.BytesByShard, shard, p.total.Bytes))
	}
	out.Rows, out.Bytes = rows, bytes
	return out
}

// onShard is one shard's part of a total. A shard that a good read did not mention has nothing.
func onShard(by map[string]int64, shard string, all topology.Figure) topology.Figure {
	n, ok := by[shard]
	if !ok && !all.Known {
		return topology.Figure{Reason: all.Reason}
	}
	return topology.Figure{Known: true, Value: n, Exact: all.Exact, At: all.At}
}

// plus is a sum of figures.
func plus(a, b topology.Figure) topology.Figure {
	switch {
	case !a.Known:
		return a
	case !b.Known:
		return topology.Figure{Reason: b.Reason}
	}
	a.Value += b.Value
	a.Exact = a.Exact && b.Exact
	if a.At.IsZero() || !b.At.IsZero() && b.At.Before(a.At) {
		a.At = b.At
	}
	return a
}
