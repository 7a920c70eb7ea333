package holdings

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/clock"
	"shardboard/internal/heat/survey"
	"shardboard/internal/natural"
)

// Project returns what a project holds on every shard, by name; nil when no collection of its
// database is measured. Rows on an unknown shard come first, under the name "".
func (s *Snapshot) Project(db string, id bson.ObjectID) []ShardFigure {
	if s == nil {
		return nil
	}
	parts, missing := s.measured(db)
	if len(parts) == 0 {
		return nil
	}
	lacking := map[string]bool{} // shards on which a collection that is not measured may have rows of it
	for _, p := range missing {
		for shard := range p.may(id) {
			lacking[shard] = true
		}
	}
	names := map[string]bool{}
	for _, shard := range s.table.Shards {
		names[shard.Name] = true
	}
	may := make([]map[string]bool, len(parts))
	for i, p := range parts {
		may[i] = p.may(id)
		for shard := range p.placed.cells[id] {
			names[shard] = true
		}
	}
	out := make([]ShardFigure, 0, len(names))
	for shard := range names {
		one := ShardFigure{Shard: shard}
		var weights []survey.Weight
		for i, p := range parts {
			w := p.on(id, shard, may[i][shard])
			weights = append(weights, w)
			if may[i][shard] || w.Rows.High > 0 {
				one.span(p.c)
			}
			if c := p.placed.cells[id][shard]; c != nil {
				one.Moved = one.Moved || c.moved
			}
		}
		one.Weight = combineWeights(weights)
		if lacking[shard] {
			one.lack()
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b ShardFigure) int { return natural.Compare(a.Shard, b.Shard) })
	return out
}

// Sum returns what a project holds on all shards together; false when no collection of its database
// is measured.
func (s *Snapshot) Sum(db string, id bson.ObjectID) (ShardFigure, bool) {
	if s == nil {
		return ShardFigure{}, false
	}
	parts, missing := s.measured(db)
	var out ShardFigure
	var weights []survey.Weight
	for _, p := range parts {
		weights = append(weights, p.all(id))
		out.span(p.c)
		for _, c := range p.placed.cells[id] {
			out.Moved = out.Moved || c.moved
		}
	}
	out.Weight = combineWeights(weights)
	if len(missing) > 0 {
		out.lack()
	}
	return out, len(parts) > 0
}

// Findings returns what a project holds in each collection of its database, by name, in the form of
// the findings of surveys. A collection that is not measured has a reason.
func (s *Snapshot) Findings(db string, id bson.ObjectID) []survey.Finding {
	if s == nil {
		return nil
	}
	var out []survey.Finding
	for _, p := range s.parts {
		c := p.c
		if c.NS.Database() != db {
			continue
		}
		of := &survey.Collection{
			NS: c.NS, Method: c.Method, At: c.At, Read: c.Read, Complete: c.Measured(), Reason: c.Reason, Problem: c.Problem,
			Rows: c.Rows, Bytes: c.Bytes, Orphans: p.total.Orphans,
		}
		f := survey.Finding{Collection: of}
		if c.Measured() {
			f.Line = &survey.Line{Project: id, Weight: p.all(id)}
			for shard, c := range p.placed.cells[id] {
				if c.rows > 0 {
					f.Line.Shards = append(f.Line.Shards, survey.Part{Shard: shard, Weight: p.on(id, shard, true)})
				}
			}
			slices.SortFunc(f.Line.Shards, func(a, b survey.Part) int { return natural.Compare(a.Shard, b.Shard) })
		}
		out = append(out, f)
	}
	return out
}

// measured are the measured collections of a database, and the others.
func (s *Snapshot) measured(db string) (parts, missing []*part) {
	for _, p := range s.parts {
		switch {
		case p.c.NS.Database() != db:
		case p.placed == nil:
			missing = append(missing, p)
		default:
			parts = append(parts, p)
		}
	}
	return parts, missing
}

// lack notes that the figure is without some collections.
func (f *ShardFigure) lack() {
	f.Unknown = f.Rows.Value == 0
	for _, e := range []*survey.Estimate{&f.Rows, &f.Bytes} {
		e.Exact, e.AtLeast = false, true
	}
}

// span extends the time of a figure by that of a collection.
func (f *ShardFigure) span(c *Collection) {
	f.Oldest, f.At = earlier(f.Oldest, c.Oldest), clock.Later(f.At, c.At)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
