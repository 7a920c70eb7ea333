package spread

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// endedMove is a migration of the changelog that was committed.
type endedMove struct {
	At       time.Time
	From, To string
	Min, Max bson.Raw
}

// endedMoves are the committed migrations of a view's changelog by collection, newest first; none of a
// past time, whose figures and moves were read together.
func endedMoves(v answer.View) map[topology.Namespace][]endedMove {
	if v.Past != nil {
		return nil
	}
	out := map[topology.Namespace][]endedMove{}
	for _, e := range v.Computable().Table.Events {
		g, ok := topology.GivenAway(e)
		if !ok {
			continue
		}
		to, _ := e.Details.Lookup("to").StringValueOK()
		out[g.NS] = append(out[g.NS], endedMove{At: e.Time, From: g.Shard, To: to, Min: g.Min, Max: g.Max})
	}
	return out
}

// noteMoves marks the amounts of shards that a chunk left or reached after they were read. Ranges that
// takes refuses are of no concern; nil is for all.
func noteMoves(t *topology.Table, shards []amount, moves []endedMove, takes func(endedMove) bool) {
	if len(moves) == 0 {
		return
	}
	position := answer.ShardPositions(t)
	for _, m := range moves {
		for _, shard := range []string{m.From, m.To} {
			i, ok := position[shard]
			if !ok || !shards[i].known || shards[i].at.IsZero() || !m.At.After(shards[i].at) || m.At.Before(shards[i].moved) {
				continue
			}
			if takes == nil || takes(m) {
				shards[i].moved = m.At
			}
		}
	}
}

// noteProjectMoves marks the amounts of a project: those whose sampled rows are elsewhere now, and
// those of shards that a range of its own left or reached since.
func (m *matrix) noteProjectMoves(p placement.Project, shards []amount) {
	for ns := range m.ended {
		if ns.Database() == p.DB {
			if takes := m.touchesProject(ns, p.ID); takes != nil {
				noteMoves(m.v.Table, shards, m.ended[ns], takes)
			}
		}
	}
	if m.q.Measure == MatrixWrites {
		return
	}
	position := answer.ShardPositions(m.v.Table)
	for _, f := range m.v.Holdings().Project(p.DB, p.ID) {
		if i, ok := position[f.Shard]; ok && f.Moved && shards[i].known && shards[i].moved.IsZero() {
			shards[i].moved = m.newestMove(p.DB, f.Shard, f.Oldest)
		}
	}
}

// newestMove is when a chunk of a database last left or reached a shard after a time; that time if the
// changelog does not tell.
func (m *matrix) newestMove(db, shard string, since time.Time) time.Time {
	for ns, moves := range m.ended {
		if ns.Database() != db {
			continue
		}
		for _, x := range moves {
			if (x.From == shard || x.To == shard) && x.At.After(since) {
				since = x.At
			}
		}
	}
	return since
}

// touchesProject tells which migrations had rows of a project; nil where its rows have no range of
// their own.
func (m *matrix) touchesProject(ns topology.Namespace, id bson.ObjectID) func(endedMove) bool {
	c := m.v.Computable().Table.Collection(ns)
	r, ok := answer.ProjectRange(m.v, c, id)
	if !ok {
		return nil
	}
	return func(x endedMove) bool {
		moved, err := c.Key.Range(x.Min, x.Max)
		return err == nil && r.Overlaps(moved)
	}
}
