package spread

import (
	"fmt"
	"slices"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/survey"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// projectSizes are bytes or documents of projects on shards, estimated from sampled rows.
type projectSizes struct {
	t         *topology.Table
	from      *holdings.Snapshot // nil: not estimated
	documents bool
	position  map[string]int
}

func (s *projectSizes) of(w survey.Weight) survey.Estimate {
	if s.documents {
		return w.Rows
	}
	return w.Bytes
}

func (s *projectSizes) unknown() []amount {
	return slices.Repeat([]amount{unknownAmount("notSurveyed", "Not estimated yet.")}, len(s.t.Shards))
}

// ranked are the projects of which rows were seen.
func (s *projectSizes) ranked() map[projectRef]shardAmounts {
	if s.from == nil {
		return nil
	}
	position := answer.ShardPositions(s.t)
	out := make(map[projectRef]shardAmounts, len(s.from.Projects))
	for _, p := range s.from.Projects {
		cells := make(shardAmounts, 0, len(p.Shards))
		for _, c := range p.Shards {
			i, ok := position[c.Shard]
			if !ok {
				continue
			}
			n := float64(c.Bytes)
			if s.documents {
				n = float64(c.Rows)
			}
			cells = append(cells, shardAmount{i, amount{known: true, value: n, low: n, high: n, rough: true}})
		}
		out[projectRef{p.DB, p.ID}] = cells
	}
	return out
}

func (s *projectSizes) project(ref projectRef) []amount {
	out := s.unknown()
	if s.position == nil {
		s.position = answer.ShardPositions(s.t)
	}
	for _, f := range s.from.Project(ref.db, ref.id) {
		if i, ok := s.position[f.Shard]; ok && !f.Unknown {
			out[i] = estimateOf(s.of(f.Weight), f.Oldest, f.At)
		} else if ok {
			out[i] = unknownAmount("noneSeen", noneSeen)
		}
	}
	return out
}

func (s *projectSizes) sum(ref projectRef) (amount, bool) {
	f, ok := s.from.Sum(ref.db, ref.id)
	if !ok {
		return amount{}, false
	}
	return estimateOf(s.of(f.Weight), f.Oldest, f.At), true
}

// total is what the shards have of the measured collections.
func (s *projectSizes) total() []amount {
	out := s.unknown()
	if s.from == nil {
		return out
	}
	position := answer.ShardPositions(s.t)
	for _, one := range s.from.Totals {
		if i, ok := position[one.Shard]; ok {
			if out[i] = amountOf(one.Bytes); s.documents {
				out[i] = amountOf(one.Rows)
			}
		}
	}
	return out
}

// partOfProject is what a project has of one collection by shard.
func partOfProject(t *topology.Table, c placement.CollectionSpread, sizes []survey.Finding, documents bool) []amount {
	holds := map[string]bool{}
	for _, s := range c.Shards {
		holds[s.Shard] = true
	}
	why := unknownAmount("notSurveyed", "Not estimated: the collection is not measured.")
	at := slices.IndexFunc(sizes, func(f survey.Finding) bool { return f.Collection.NS == c.NS })
	out := make([]amount, len(t.Shards))
	for i, s := range t.Shards {
		switch {
		case c.Basis != placement.BasisUnknown && !holds[s.Name]:
			out[i] = nothing()
		case at < 0 || sizes[at].Line == nil:
			out[i] = why
		default:
			f := sizes[at]
			one, all := partOn(f, s.Name).Bytes, f.Line.Bytes
			if documents {
				one, all = partOn(f, s.Name).Rows, f.Line.Rows
			}
			if one == (survey.Estimate{}) { // no row of it was seen there
				one = survey.Estimate{Exact: all.Exact, High: all.High}
			}
			out[i] = estimateOf(one, f.Collection.At, f.Collection.At)
		}
	}
	return out
}

func partOn(f survey.Finding, shard string) survey.Weight {
	for _, s := range f.Line.Shards {
		if s.Shard == shard {
			return s.Weight
		}
	}
	return survey.Weight{}
}

// holdingsNotes say what sizes of projects are made of, if not of everything.
func holdingsNotes(p *profile.Profile, s *holdings.Snapshot) []api.State {
	if s == nil {
		return []api.State{{Code: "empty", Title: p.Words("Sizes by project are not estimated here."),
			Detail: p.Words("Writes are counted by project.")}}
	}
	var out []api.State
	if s.State != holdings.Measuring && s.State != "" {
		out = append(out, api.State{Code: "partial", Title: p.Words(s.State.Text().String())})
	}
	var missing []string
	for _, c := range s.Collections {
		if !c.Measured() {
			missing = append(missing, string(c.NS))
		}
	}
	if n := len(missing); n > 0 && n < len(s.Collections) {
		const most = 6
		if n > most {
			missing = append(missing[:most:most], fmt.Sprintf("%d more", n-most))
		}
		out = append(out, api.State{Code: "partial", Title: "Not in these figures:",
			Detail: strings.Join(missing, ", ") + message.Plural(n, " is", " are") + " not measured yet."})
	}
	return out
}
