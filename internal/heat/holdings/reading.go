package holdings

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/internal/topology"
)

const (
	firstBatch = 100 // rows of the first read of a collection, so that all have figures soon
	laterBatch = 200 // rows of later reads
	// sampledFirst is how many rows of a collection are sampled before all of them are counted, which
	// takes longer.
	sampledFirst = 1000
	minDocuments = 5 // for which a read counts at least, because one that returns nothing is work too
	retryAfter   = 10 * time.Minute
	restAfter    = time.Minute // after the cluster did not answer
)

// count is a count of all rows of a small collection, in the order of their ids.
type count struct {
	life  topology.Incarnation
	begun time.Time
	next  survey.Position
	read  int
	rows  []row
	at    map[row]int // positions in rows, by all but the figures
}

func (c *count) add(rows []row) {
	c.read += len(rows)
	for _, r := range rows {
		same := row{Key: r.Key, Project: r.Project, Shard: r.Shard}
		i, ok := c.at[same]
		if !ok {
			i = len(c.rows)
			c.at[same], c.rows = i, append(c.rows, same)
		}
		c.rows[i].Rows += r.Rows
		c.rows[i].Bytes += r.Bytes
	}
}

// read makes one read of a collection and returns its sample after it, and how many rows it read.
func (e *Engine) read(ctx context.Context, t *topology.Table, f *followed) (*sample, int, error) {
	life, rows := lifeOf(t, f.target.NS), survey.TotalOf(t, f.target.NS).Rows.Value
	old := f.sample
	if old != nil && old.Life != life {
		old, f.sampleOnly = nil, false
	}
	sampled := rows <= laterBatch || old != nil && (old.Counted || int64(old.read()) >= min(sampledFirst, rows/4))
	if sampled && rows <= int64(countedUpTo*e.window()) && !f.sampleOnly {
		return e.countOn(ctx, t, f, old, rows)
	}
	f.count = nil
	n := laterBatch
	if old == nil {
		n = firstBatch
		old = &sample{Life: life}
	}
	begun := e.o.Now()
	var read []survey.SizedRow
	err := e.reader.Read(ctx, n, func(ctx context.Context) (_ int, err error) {
		read, err = e.src.SampleSizes(ctx, f.target.Query(n))
		return len(read), err
	})
	if err != nil {
		return nil, 0, err
	}
	return old.with(batch{Begun: begun, At: e.o.Now(), Rows: rowsOf(t, f.target.NS, read)}, e.window()), len(read), nil
}

// countOn reads the next rows of a small collection. The old sample stays until all are read.
func (e *Engine) countOn(ctx context.Context, t *topology.Table, f *followed, old *sample, expected int64) (*sample, int, error) {
	if life := lifeOf(t, f.target.NS); f.count == nil || f.count.life != life {
		f.count = &count{life: life, begun: e.o.Now(), at: map[row]int{}}
	}
	c := f.count
	read, next, last, err := e.reader.Rows(ctx, f.target, nil, c.next)
	if err != nil {
		return nil, 0, err
	}
	c.next = next
	c.add(rowsOf(t, f.target.NS, read))
	switch {
	case c.read > 2*countedUpTo*e.window(), last && int64(c.read) < expected*9/10:
		// It grows or shrinks.
		f.count, f.sampleOnly = nil, true
		return old, len(read), nil
	case !last:
		return old, len(read), nil
	}
	f.count = nil
	return &sample{Life: c.life, Counted: true, Batches: []batch{{Begun: c.begun, At: e.o.Now(), Rows: slices.Clone(c.rows)}}}, len(read), nil
}

// fail records why a collection could not be read; the caller holds the lock.
func (e *Engine) fail(f *followed, err error) {
	now := e.o.Now()
	reason := survey.ReasonOf(err)
	f.retry = now.Add(retryAfter)
	switch reason {
	case "":
		reason, f.retry = "unreachable", now.Add(restAfter)
	case "gone":
		f.sample = nil
	}
	if reason != f.reason {
		e.o.Log.Warn("rows cannot be read to estimate what projects hold", "ns", string(f.target.NS), "err", err)
	}
	f.reason, f.problem = reason, fault.Text(err)
	e.seq++
}
