package spread

import (
	"bytes"
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// PendingMove is a range that will leave a shard for another: a migration under way, or a step of a
// run that has not been sent.
type PendingMove struct {
	NS       topology.Namespace
	From, To string
	Running  bool

	span             shardkey.Range
	bytes, documents amount
}

// OpenRuns are the runs that have not ended; none where nothing can be changed, and none if the store
// cannot be read, which pages say elsewhere.
func OpenRuns(ctx context.Context, kept engine.Service) []engine.Run {
	if kept == nil {
		return nil
	}
	runs, err := kept.OpenRuns(ctx)
	if err != nil {
		return nil
	}
	return runs
}

// PendingMoves are the moves of a view that have not ended; none of a past time.
func PendingMoves(v answer.View, runs []engine.Run) (out []PendingMove) {
	if v.Past != nil {
		return nil
	}
	for _, x := range v.Table.Moves.List {
		if !x.Arrived(v.Table) {
			out = append(out, pendingMove(v, x.NS, x.Min, x.From, x.To, true, x.Estimate))
		}
	}
	for _, r := range runs {
		for _, s := range r.Steps {
			if !s.State.Open() || !s.Sent.IsZero() || !s.Migrates() {
				continue
			}
			c := v.Table.Collection(s.NS)
			if c == nil || flies(v.Table, s.NS, s.Min) {
				continue
			}
			lower, err := c.Key.Bound(s.Min)
			if err != nil {
				continue
			}
			if _, chunk := c.Chunks.Find(lower); chunk.Shard != s.Shard {
				out = append(out, pendingMove(v, s.NS, s.Min, chunk.Shard, s.Shard, false, topology.Figure{}))
			}
		}
	}
	return out
}

func flies(t *topology.Table, ns topology.Namespace, min bson.Raw) bool {
	for _, x := range t.MovingOf(ns) {
		if bytes.Equal(x.Min, min) {
			return true
		}
	}
	return false
}

// pendingMove estimates what is in the chunk of a move.
func pendingMove(v answer.View, ns topology.Namespace, min bson.Raw, from, to string, running bool, documents topology.Figure) PendingMove {
	out := PendingMove{NS: ns, From: from, To: to, Running: running, documents: amountOf(documents)}
	c := v.Table.Collection(ns)
	if c == nil {
		return out
	}
	lower, err := c.Key.Bound(min)
	if err != nil {
		return out
	}
	i, chunk := c.Chunks.Find(lower)
	if i < 0 {
		return out
	}
	out.span = shardkey.Range{Min: chunk.Min, Max: chunk.Max}
	size := data.FiguresOf(v, c).Size(i, chunk.Shard)
	out.bytes = amountOf(size.Bytes)
	if !out.documents.known {
		out.documents = amountOf(size.Documents)
	}
	return out
}

// shardMoves are the pending moves of one cell.
type shardMoves struct{ leaving, arriving []PendingMove }

// movesByShard sorts some moves by their ends.
func movesByShard(t *topology.Table, moves []PendingMove) []shardMoves {
	if len(moves) == 0 {
		return nil
	}
	out, position := make([]shardMoves, len(t.Shards)), answer.ShardPositions(t)
	for _, m := range moves {
		if i, ok := position[m.From]; ok {
			out[i].leaving = append(out[i].leaving, m)
		}
		if i, ok := position[m.To]; ok {
			out[i].arriving = append(out[i].arriving, m)
		}
	}
	return out
}

// MatrixGhost is what pending moves will take from a cell or bring to it.
type MatrixGhost struct {
	Text    string
	Title   string
	Running bool // at least one is under way
}

// ghost describes the moves at one end of a cell; nil without any. Moves between two shards of the
// same sum are at both ends of it.
func ghost(moves []PendingMove, leaving bool, m matrixMeasure) *MatrixGhost {
	if len(moves) == 0 {
		return nil
	}
	var sum amount
	running, others := 0, map[string]bool{}
	var names []string
	for _, x := range moves {
		sum = sum.plus(m.ofMove(x))
		if x.Running {
			running++
		}
		other := x.To
		if !leaving {
			other = x.From
		}
		if !others[other] {
			others[other] = true
			names = append(names, other)
		}
	}
	n := int64(len(moves))
	count := message.Plural(len(moves), "1 chunk", format.Count(n)+" chunks")
	sign, verb, to := "−", message.Plural(len(moves), " leaves", " leave"), " for "
	if !leaving {
		sign, verb, to = "+", message.Plural(len(moves), " comes", " come"), " from "
	}
	out := &MatrixGhost{Text: sign + count, Running: running > 0}
	what := count
	if sum.known && !sum.atLeast {
		out.Text = sign + m.write(sum.value)
		what += ", about " + m.write(sum.value) + ","
	}
	state := "planned by a run"
	switch {
	case running == len(moves):
		state = "under way"
	case running > 0:
		state = format.Count(int64(running)) + " under way, the others planned by a run"
	}
	if len(names) > 3 {
		names = append(names[:3:3], format.Count(int64(len(names)-3))+" others")
	}
	out.Title = what + verb + to + format.JoinWords(names) + " (" + state + ")"
	return out
}

// movesAnswer is the moves at one end of a cell for scripts; nil without any.
func movesAnswer(moves []PendingMove, leaving bool) *api.MatrixMoves {
	if len(moves) == 0 {
		return nil
	}
	out := &api.MatrixMoves{Moves: len(moves), Shards: []string{}}
	seen := map[string]bool{}
	var size, documents amount
	for _, m := range moves {
		size, documents = size.plus(m.bytes), documents.plus(m.documents)
		if m.Running {
			out.Running++
		}
		other := m.To
		if !leaving {
			other = m.From
		}
		if !seen[other] {
			seen[other] = true
			out.Shards = append(out.Shards, other)
		}
	}
	whole := func(a amount) *int64 {
		if !a.known || a.atLeast {
			return nil
		}
		n := int64(a.value)
		return &n
	}
	out.Bytes, out.Documents = whole(size), whole(documents)
	return out
}
