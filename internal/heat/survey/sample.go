package survey

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	batch = 200 // rows per read
	// scarce is the smallest multiple of the wanted rows for which a collection is sampled. A
	// smaller one is read completely, which costs little more and is exact. It also keeps a batch
	// below five percent of a shard's rows, beyond which $sample scans all of them.
	scarce = 2
	// lookups is how many Yorkie documents are looked up at once, and checked how many in all, to
	// find revisions of deleted documents.
	lookupsPerRead = 100
	maxLookups     = 500
)

// sampling is a survey of kind sample with its partial sums. Its fields are stored as JSON; do not
// rename them.
type sampling struct {
	Parts     []*samplePart
	Documents profile.DocumentFields
}

// samplePart is the state of one collection.
type samplePart struct {
	Target  Target
	Whole   bool  // read row by row
	Wanted  int64 // rows to sample; for Whole the rows by the statistics
	Known   bool  // Wanted is not a guess
	Next    Position
	Drawn   bool // all rows were read
	Ended   outcome
	Sums    cells
	Looked  map[bson.ObjectID]bool // Yorkie documents: exists or not; nil: none yet
	AllSeen bool                   // all lookups are done
}

func newSampling(t *topology.Table, p *profile.Profile, r Request) *sampling {
	s := &sampling{Documents: p.Keys}
	for _, one := range Targets(t, p, r, profile.ScopeDocument) {
		part := &samplePart{Target: one, Wanted: rowsWanted(r.Precision), Known: true}
		if rows := TotalOf(t, one.NS).Rows; rows.Known && rows.Value <= scarce*part.Wanted {
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

func (s *sampling) step(ctx context.Context, r *Reader) (bool, error) {
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
func (p *samplePart) draw(ctx context.Context, r *Reader) error {
	if p.Whole {
		rows, next, last, err := r.Rows(ctx, p.Target, nil, p.Next)
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
	err := r.Read(ctx, n, func(ctx context.Context) (_ int, err error) {
		rows, err = r.src.SampleSizes(ctx, p.Target.Query(n))
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

// look looks up the documents of some rows.
func (s *sampling) look(ctx context.Context, r *Reader, p *samplePart) error {
	if p.Looked == nil {
		p.Looked = map[bson.ObjectID]bool{}
	}
	var ids, projects []bson.ObjectID
	of := map[bson.ObjectID]bool{}
	for _, c := range p.Sums.All {
		if _, done := p.Looked[c.Document]; done || len(p.Looked)+len(ids) >= maxLookups || len(ids) == lookupsPerRead {
			continue
		}
		// For ids that are not known here: whether the document exists is not asked.
		if placement.IsStandIn(c.Project) || placement.IsStandIn(c.Document) {
			p.Looked[c.Document] = true
			continue
		}
		ids = append(ids, c.Document)
		p.Looked[c.Document] = false // set to true when found; also prevents a second lookup
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
	err := r.Read(ctx, len(ids), func(ctx context.Context) (int, error) {
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
		all, c.Checked = p.withDeadRows(), len(p.Looked)
	}
	c.Projects, c.Documents = s.lines(all, byProject, looked), s.largestDocuments(p.Sums.All)
	if !p.Whole && p.Sums.Read > 0 {
		none := s.weigh(WeightedSum{}, WeightedSum{}, WeightedSum{}, 0)
		c.Unseen = &none
	}
	return c
}

// withDeadRows returns the sums with rows of deleted documents marked as dead. It is a lower bound unless
// every document was looked up.
func (p *samplePart) withDeadRows() []cell {
	out := make([]cell, len(p.Sums.All))
	for i, c := range p.Sums.All {
		if there, known := p.Looked[c.Document]; known && !there {
			c.DeadRows, c.DeadBytes = c.Rows, c.Bytes
		}
		out[i] = c
	}
	return out
}

// minRowsPerShard is how many rows must be sampled from each shard to weight its rows by its own total.
const minRowsPerShard = 30

// scale weights the sampled rows: those of each shard by that shard's total. If a shard has too few
// sampled rows, or rows come from a shard without a known total (a chunk moved since, or the shard
// is draining), all rows have the same weight, because the mongos samples the shards by their
// sizes.
func (p *samplePart) scale(t *topology.Table) scale {
	s := scale{counted: p.Whole, partial: !p.Drawn, other: 1, top: 1, loose: 1, largest: float64(p.Sums.Top)}
	if p.Whole || p.Sums.Read == 0 {
		return s
	}
	of := TotalOf(t, p.Target.NS)
	rows, byShard := of.Rows, of.ByShard
	if !rows.Known {
		return s
	}
	s.loose = of.Loose
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
		case drawn[shard] < minRowsPerShard:
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
