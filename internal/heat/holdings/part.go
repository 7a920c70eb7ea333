package holdings

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/heat/survey"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// part is what was read of one collection, placed and weighted by one table.
type part struct {
	c       *Collection
	sharded *topology.Collection // nil: it is not
	primary string
	leads   bool // its shard key begins with the project's id
	total   survey.Total
	placed  *placed // nil: no figures
	shards  map[string]stratum
	other   stratum // of shards without statistics
}

// newPart makes the part of a collection; p is nil when nothing was read.
func newPart(t *topology.Table, of survey.Target, c *Collection, p *placed) *part {
	out := &part{c: c, sharded: t.Collection(of.NS), primary: t.Primary(of.NS.Database()), total: survey.TotalOf(t, of.NS)}
	out.leads = out.sharded != nil && out.sharded.Key.LeadsWith(of.Project)
	c.Rows, c.Bytes = out.total.Rows, out.total.Bytes
	if p == nil {
		return out
	}
	c.Read, c.Oldest, c.At = p.read, p.oldest, p.newest
	if p.of.Counted {
		c.Method, out.placed = survey.MethodCounted, p
		return out
	}
	if len(out.total.ByShard) == 0 && !out.total.Rows.Known {
		if c.Reason == "" {
			c.Reason = out.total.Rows.Reason
		}
		return out // rows without a total stand for an unknown number
	}
	c.Method, out.placed = survey.MethodSample, p
	out.shards, out.other = strata(p, out.total, out.primary)
	return out
}

// may is on which shards a project can have rows, by routing.
func (p *part) may(project bson.ObjectID) map[string]bool {
	out := map[string]bool{}
	switch {
	case p.sharded == nil:
		out[p.primary] = true
	case p.leads && !placement.IsStandIn(project):
		r, err := p.sharded.Key.PrefixRange(placement.ObjectIDValue(project))
		if err != nil { // an ObjectID is always a legal key value
			return out
		}
		from, to := p.sharded.Chunks.Overlap(r)
		for i := from; i < to; i++ {
			out[p.sharded.Chunks.Owner(i)] = true
		}
	default:
		for shard := range p.sharded.Chunks.CountByShard() {
			out[shard] = true
		}
	}
	return out
}

// on is what a project has on one shard. may is whether it can have rows there.
func (p *part) on(project bson.ObjectID, shard string, may bool) survey.Weight {
	c := p.placed.cells[project][shard]
	switch {
	case p.placed.of.Counted && c == nil, !may && (c == nil || c.rows == 0):
		return exactly(0, 0)
	case p.placed.of.Counted:
		return exactly(c.rows, int64(c.bytes))
	}
	return p.stratum(shard).estimate(c, p.placed.largest, p.total.Loose)
}

// all is what a project has on all shards together, which is more precise than the sum of them.
func (p *part) all(project bson.ObjectID) survey.Weight {
	may := p.may(project)
	cells := p.placed.cells[project]
	if p.placed.of.Counted {
		var rows, bytes int64
		for _, c := range cells {
			rows, bytes = rows+c.rows, bytes+int64(c.bytes)
		}
		return exactly(rows, bytes)
	}
	if len(may) == 1 {
		for shard := range may {
			if c := cells[shard]; len(cells) == 0 || len(cells) == 1 && c != nil {
				return p.on(project, shard, true)
			}
		}
	}
	var rows, bytes, allRows, allBytes weightedSum
	var top, topByte float64
	for shard, c := range cells {
		s := p.stratum(shard)
		rows, bytes = s.addTo(rows, bytes, c)
		top, topByte = max(top, s.row), max(topByte, s.byte)
	}
	for shard := range may {
		s := p.stratum(shard)
		top, topByte = max(top, s.row), max(topByte, s.byte)
	}
	var total, totalBytes int64
	if p.total.Rows.Known && p.total.Bytes.Known {
		total, totalBytes = p.total.Rows.Value, p.total.Bytes.Value
		for shard, c := range p.placed.shards {
			allRows, allBytes = p.stratum(shard).addTo(allRows, allBytes, c)
		}
	}
	return loosen(survey.Weight{
		Rows:  rows.estimate(top, allRows, total),
		Bytes: bytes.estimate(topByte*float64(p.placed.largest), allBytes, totalBytes),
	}, p.total.Loose)
}

func (p *part) stratum(shard string) stratum {
	if s, ok := p.shards[shard]; ok {
		return s
	}
	return p.other
}

// values are rows and bytes of a cell, without an interval.
func (p *part) values(shard string, c *cell) (rows, bytes float64) {
	if p.placed.of.Counted {
		return float64(c.rows), c.bytes
	}
	s := p.stratum(shard)
	return s.row * float64(c.rows), s.byte * c.bytes
}

// loosen widens intervals because the total itself is an estimate.
func loosen(w survey.Weight, factor float64) survey.Weight {
	w.Rows.High = int64(math.Ceil(float64(w.Rows.High) * factor))
	w.Bytes.High = int64(math.Ceil(float64(w.Bytes.High) * factor))
	return w
}
