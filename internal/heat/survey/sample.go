package survey

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	batch = 200 // rows of one read
	// scarce is how many times as many rows as wanted a collection must have to be
	// sampled: a smaller one is read whole, which costs little more and is exact.
	// It also keeps a batch under the twentieth of a shard's rows from which on
	// $sample reads all of them.
	scarce = 2
	// lookups is how many Yorkie documents are looked for at once, and checked how
	// many at most, to find revisions whose document is gone.
	lookups = 100
	checked = 500
)

// sampling is a survey of kind sample: its plan and its partial sums.
type sampling struct {
	Parts     []*samplePart
	Documents profile.DocumentFields
}

// samplePart is one collection of it.
type samplePart struct {
	Target  target
	Whole   bool  // is read row by row
	Wanted  int64 // rows to draw; of a whole one, as many as the statistics know
	Known   bool  // Wanted is more than a guess
	Next    bson.ObjectID
	Drawn   bool // no more rows to read
	Ended   outcome
	Sums    cells
	Looked  map[bson.ObjectID]bool // Yorkie documents: there or not; nil is none yet
	AllSeen bool                   // every one that can be was looked for
}

func newSampling(t *topology.Table, p *profile.Profile, r Request) *sampling {
	s := &sampling{Documents: p.Keys}
	for _, one := range targets(t, p, r, profile.ScopeDocument) {
		part := &samplePart{Target: one, Wanted: wanted(r.Precision), Known: true}
		if rows := totals(t, one.NS).rows; rows.Known && rows.Value <= scarce*part.Wanted {
			part.Whole, part.Wanted = true, rows.Value
		}
		s.Parts = append(s.Parts, part)
	}
	return s
}

func (s *sampling) progress() (done, total int64) {
	for _, p := range s.Parts {
		done += p.Sums.Read
		if p.Drawn || p.Ended.Reason != "" {
			total += p.Sums.Read
			continue
		}
		total += max(p.Wanted, p.Sums.Read)
	}
	return done, total
}

func (s *sampling) step(ctx context.Context, r *reading) (bool, error) {
	for _, p := range s.Parts {
		switch {
		case p.Ended.Reason != "":
		case !p.Drawn:
			return false, p.Ended.take(r, p.draw(ctx, r))
		case p.Target.Revision && !p.AllSeen:
			return false, p.Ended.take(r, s.look(ctx, r, p))
		}
	}
	return true, nil
}

// draw reads one batch.
func (p *samplePart) draw(ctx context.Context, r *reading) error {
	if p.Whole {
		rows, next, last, err := r.rows(ctx, p.Target, nil, p.Next)
		if err != nil {
			return err
		}
		for _, row := range rows {
			p.Sums.add(r.table(), p.Target.NS, row, true)
		}
		p.Next, p.Drawn = next, last
		return nil
	}
	n := int(min(batch, p.Wanted-p.Sums.Read))
	var rows []SizedRow
	err := r.read(ctx, n, func(ctx context.Context) (_ int, err error) {
		rows, err = r.src.SampleSizes(ctx, p.Target.query(n))
		return len(rows), err
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		p.Sums.add(r.table(), p.Target.NS, row, true)
	}
	p.Drawn = len(rows) == 0 || p.Sums.Read >= p.Wanted
	return nil
}

// look asks for the documents of some of the rows.
func (s *sampling) look(ctx context.Context, r *reading, p *samplePart) error {
	if p.Looked == nil {
		p.Looked = map[bson.ObjectID]bool{}
	}
	var ids, projects []bson.ObjectID
	of := map[bson.ObjectID]bool{}
	for _, c := range p.Sums.All {
		if _, done := p.Looked[c.Document]; done || len(p.Looked)+len(ids) >= checked || len(ids) == lookups {
			continue
		}
		ids = append(ids, c.Document)
		p.Looked[c.Document] = false // until it is found; also so that it is asked for once
		if !of[c.Project] {
			of[c.Project] = true
			projects = append(projects, c.Project)
		}
	}
	if len(ids) == 0 {
		p.AllSeen = true
		return nil
	}
	ns := topology.Namespace(p.Target.NS.Database() + "." + s.Documents.Collection)
	err := r.read(ctx, len(ids), func(ctx context.Context) (int, error) {
		found, err := r.src.Existing(ctx, ns, s.Documents.Project, projects, ids)
		for id := range found {
			p.Looked[id] = true
		}
		return len(found), err
	})
	if err != nil {
		for _, id := range ids {
			delete(p.Looked, id)
		}
	}
	return err
}

func (s *sampling) result(t *topology.Table) Result {
	var out Result
	for _, p := range s.Parts {
		out.Collections = append(out.Collections, p.result(t))
	}
	return out
}

func (p *samplePart) result(t *topology.Table) Collection {
	c := p.Ended.collection(t, p.Target, MethodSample)
	c.Read, c.Complete = p.Sums.Read, p.Drawn && c.Reason == ""
	if p.Sums.Read == 0 && !p.Drawn {
		return c
	}
	s := p.scale(t)
	if p.Whole {
		c.Method = MethodCounted
	}
	all, looked := p.Sums.All, len(p.Looked) > 0
	if looked {
		all, c.Checked = p.marked(), len(p.Looked)
	}
	c.Projects, c.Documents = s.lines(all, byProject, looked), s.largestDocuments(p.Sums.All)
	if !p.Whole && p.Sums.Read > 0 {
		none := s.weigh(weighted{}, weighted{}, weighted{}, 0)
		c.Unseen = &none
	}
	return c
}

// marked is the sums with the rows of documents that are gone marked as dead.
// When not every document was looked for they are fewer than there are.
func (p *samplePart) marked() []cell {
	out := make([]cell, len(p.Sums.All))
	for i, c := range p.Sums.All {
		if there, known := p.Looked[c.Document]; known && !there {
			c.DeadRows, c.DeadBytes = c.Rows, c.Bytes
		}
		out[i] = c
	}
	return out
}

// minimum is how many rows must be drawn from each shard for its rows to be
// weighted by its own total.
const minimum = 30

// scale weighs the drawn rows. Each shard's count for what that shard has; when
// one was drawn from too seldom, or rows come from a shard whose total is not
// known (a chunk has moved since, or the shard is being emptied), all rows
// count the same: the mongos draws from the shards by what they hold.
func (p *samplePart) scale(t *topology.Table) scale {
	s := scale{counted: p.Whole, partial: !p.Drawn, other: 1, top: 1, loose: 1, largest: float64(p.Sums.Top)}
	if p.Whole || p.Sums.Read == 0 {
		return s
	}
	of := totals(t, p.Target.NS)
	rows, byShard := of.rows, of.byShard
	if !rows.Known {
		return s
	}
	s.loose = of.loose
	s.total = rows.Value
	s.other = float64(rows.Value) / float64(p.Sums.Read)
	s.top = s.other
	drawn := map[string]int64{}
	for _, c := range p.Sums.All {
		drawn[c.Shard] += c.Rows
	}
	weights := map[string]float64{}
	for shard, n := range byShard {
		switch {
		case n == 0 && drawn[shard] == 0:
		case drawn[shard] < minimum:
			return s
		default:
			weights[shard] = float64(n) / float64(drawn[shard])
		}
	}
	s.top = 0
	for shard := range drawn {
		w, ok := weights[shard]
		if !ok {
			s.top = s.other
			return s
		}
		s.top = max(s.top, w)
	}
	s.weight = weights
	return s
}
