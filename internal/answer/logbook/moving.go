package logbook

import (
	"bytes"
	"fmt"
	"io"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// PlaceRange is where a located thing is in its collection's key space: the key,
// with no upper bound, or the range of what is known of it. Zero where nothing
// is.
func PlaceRange(p placement.Place) shardkey.Range {
	if !p.Sharded || p.Exists == "absent" || p.Pattern.IsZero() {
		return shardkey.Range{}
	}
	if !p.Key.IsZero() {
		return shardkey.Range{Min: p.Key}
	}
	var values []bson.RawValue
	for _, f := range p.Pattern.Fields() {
		n := len(values)
		for _, m := range p.Match {
			if m.Field == f.Name {
				values = append(values, m.Value)
				break
			}
		}
		if len(values) == n {
			break
		}
	}
	if len(values) == 0 {
		return shardkey.Range{}
	}
	r, err := p.Pattern.PrefixRange(values...)
	if err != nil {
		return shardkey.Range{}
	}
	return r
}

// MarkMoving marks the places that a migration is moving.
func MarkMoving(v answer.View, found []placement.Item, into []api.LocateItem) {
	if len(v.Table.Moves.List) == 0 {
		return
	}
	for i, it := range found {
		for n, p := range it.Places {
			if x := MovingIn(v, p.NS, PlaceRange(p)); x != nil && i < len(into) && n < len(into[i].Places) {
				into[i].Places[n].Moving = &api.MovingPlace{From: x.From, To: x.To, Since: x.Since.UTC(), Whole: !p.Key.IsZero()}
			}
		}
	}
}

// MovingOfProject are the migrations of a project's own ranges: those of
// collections whose shard key begins with the project.
func MovingOfProject(v answer.View, s placement.Spread) (out []topology.InFlight) {
	if v.Past != nil || len(v.Table.Moves.List) == 0 {
		return nil
	}
	for _, c := range s.Collections {
		coll := v.Table.Collection(c.NS)
		if c.Basis != placement.BasisKeyPrefix || coll == nil {
			continue
		}
		for _, x := range v.Table.MovingOf(c.NS) {
			from, to := x.Positions(coll)
			for _, ch := range c.Chunks {
				if i, _ := coll.Chunks.Find(ch.Min); from <= i && i < to {
					out = append(out, x)
					break
				}
			}
		}
	}
	return out
}

// MovingChunks are the chunks of a collection that a migration moves, by
// position, with where to. Those that have arrived are not on their way.
func MovingChunks(v answer.View, c *topology.Collection) map[int]string {
	if v.Past != nil || c == nil {
		return nil
	}
	var out map[int]string
	for _, x := range v.Table.MovingOf(c.NS) {
		from, to := x.Positions(c)
		// A range is of one chunk; of more it can only be while the table is behind.
		for i := from; i < min(to, from+4); i++ {
			if c.Chunks.Owner(i) == x.To {
				continue
			}
			if out == nil {
				out = map[int]string{}
			}
			out[i] = x.To
		}
	}
	return out
}

// MovingChunk are the migrations that concern the chunk at a position.
func MovingChunk(v answer.View, c *topology.Collection, i int) (out []topology.InFlight) {
	if v.Past != nil {
		return nil
	}
	for _, x := range v.Table.MovingOf(c.NS) {
		if from, to := x.Positions(c); from <= i && i < to {
			out = append(out, x)
		}
	}
	return out
}

// MovingIn is the migration that a range of a collection or a part of it is in,
// as long as it has not arrived; nil for none. A range of one key is empty and
// is in it where the key is.
func MovingIn(v answer.View, ns topology.Namespace, r shardkey.Range) *topology.InFlight {
	c := v.Table.Collection(ns)
	if v.Past != nil || c == nil || r.Min.IsZero() {
		return nil
	}
	for _, x := range v.Table.MovingOf(ns) {
		lo, err := c.Key.Bound(x.Min)
		if err != nil || x.Arrived(v.Table) {
			continue
		}
		moves := shardkey.Range{Min: lo}
		if moves.Max, err = c.Key.Bound(x.Max); err != nil {
			_, ch := c.Chunks.Find(lo)
			moves.Max = ch.Max
		}
		if r.Max.IsZero() && moves.Contains(r.Min) || !r.Max.IsZero() && moves.Overlaps(r) {
			return &x
		}
	}
	return nil
}

// MovingStep is the migration that a step of a run has begun.
func MovingStep(v answer.View, s engine.Step) (out []topology.InFlight) {
	if !s.State.Open() || s.Sent.IsZero() || !s.Migrates() {
		return nil
	}
	for _, x := range v.Table.MovingOf(s.NS) {
		if x.To == s.Shard && bytes.Equal(x.Min, s.Min) {
			out = append(out, x)
		}
	}
	return out
}

// MovingSteps are the migrations that the steps of a run have begun.
func MovingSteps(v answer.View, r engine.Run) []api.InFlight {
	var list []topology.InFlight
	for _, s := range r.Steps {
		list = append(list, MovingStep(v, s)...)
	}
	return InFlightOf(v, list)
}

// DescribeMoving writes what a collection's page shows of migrations, for
// comparing: times of reads are left out, as nobody needs a page for them.
func DescribeMoving(w io.Writer, v answer.View, ns topology.Namespace) {
	for _, x := range v.Table.MovingOf(ns) {
		fmt.Fprintf(w, " %x %q %q %d %v %d %d %q %q %v", x.Min, x.From, x.To, x.Since.UnixMilli(), x.Arrived(v.Table),
			x.Step, x.RecipientStep, x.By, x.App, x.Left)
		for _, f := range []topology.Figure{x.Copied, x.Estimate} {
			fmt.Fprintf(w, " %v %d %q", f.Known, f.Value, f.Reason)
		}
	}
	for _, h := range v.Table.Deletions.Held {
		if h.NS == ns {
			fmt.Fprintf(w, " %q %d %v %v", h.Shard, h.Count, h.Cursors[0].ID, h.Since.UnixMilli())
		}
	}
	fmt.Fprintf(w, " %q", v.Table.Deletions.Reason)
	if len(v.Table.MovingOf(ns)) > 0 {
		fmt.Fprintf(w, " %q %v", v.Table.Moves.StepsReason, v.Table.Stale(topology.PartMoves, v.Now))
	}
}
