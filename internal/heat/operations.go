package heat

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/topology"
)

// Load is a shard's activity for a collection between two reads of its counters.
type Load struct {
	Known                           bool
	Over                            time.Duration
	From, To                        time.Time // times of the reads; for several collections the first and the last
	ReadsPerSecond, WritesPerSecond float64
	ReadLatency, WriteLatency       time.Duration // mean latency; 0 without operations
}

// operations has the last two reads of each collection.
type operations struct {
	mu   sync.RWMutex
	last map[topology.Namespace]reading
	load map[topology.Namespace]map[string]Load
}

type reading struct {
	at     time.Time
	shards map[string]Operations
}

// readOperations reads the shards' counters only every third tick, because each read goes to every
// shard.
func (c *Collector) readOperations(ctx context.Context, ns topology.Namespace, now time.Time) {
	c.ops.mu.RLock()
	was, read := c.ops.last[ns]
	c.ops.mu.RUnlock()
	if read && now.Sub(was.at) < 3*Tick {
		return
	}
	ask, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	shards, err := c.src.Operations(ask, ns)
	c.ops.mu.Lock()
	defer c.ops.mu.Unlock()
	if c.ops.last == nil {
		c.ops.last, c.ops.load = map[topology.Namespace]reading{}, map[topology.Namespace]map[string]Load{}
	}
	c.ops.load[ns] = map[string]Load{} // of no shard is it known: a sum without this collection would be too little
	if err != nil {
		return
	}
	if read {
		c.ops.load[ns] = loadBetween(was, reading{now, shards})
	}
	c.ops.last[ns] = reading{now, shards}
}

// loadBetween is the activity between two reads. A shard whose counters decreased has another
// primary and is unknown.
func loadBetween(a, b reading) map[string]Load {
	out := map[string]Load{}
	over := b.at.Sub(a.at)
	for shard, is := range b.shards {
		was, ok := a.shards[shard]
		if !ok || is.Reads < was.Reads || is.Writes < was.Writes || over <= 0 {
			continue
		}
		l := Load{Known: true, Over: over, From: a.at, To: b.at}
		reads, writes := is.Reads-was.Reads, is.Writes-was.Writes
		l.ReadsPerSecond, l.WritesPerSecond = float64(reads)/over.Seconds(), float64(writes)/over.Seconds()
		if reads > 0 {
			l.ReadLatency = (is.ReadTime - was.ReadTime) / time.Duration(reads)
		}
		if writes > 0 {
			l.WriteLatency = (is.WriteTime - was.WriteTime) / time.Duration(writes)
		}
		out[shard] = l
	}
	return out
}

// Together is a shard's activity for several collections; known only if it is known for each.
func Together(loads []Load) Load {
	var out Load
	var reads, writes, readTime, writeTime float64
	for _, l := range loads {
		if !l.Known {
			return Load{}
		}
		if !out.Known || l.From.Before(out.From) {
			out.From = l.From
		}
		if l.To.After(out.To) {
			out.To = l.To
		}
		out.Known, out.Over = true, max(out.Over, l.Over)
		reads, writes = reads+l.ReadsPerSecond, writes+l.WritesPerSecond
		readTime += l.ReadsPerSecond * float64(l.ReadLatency)
		writeTime += l.WritesPerSecond * float64(l.WriteLatency)
	}
	out.ReadsPerSecond, out.WritesPerSecond = reads, writes
	if reads > 0 {
		out.ReadLatency = time.Duration(readTime / reads)
	}
	if writes > 0 {
		out.WriteLatency = time.Duration(writeTime / writes)
	}
	return out
}

// Load returns the recent activity of the shards for a collection; a missing shard is unknown.
func (c *Collector) Load(ns topology.Namespace) map[string]Load {
	c.ops.mu.RLock()
	defer c.ops.mu.RUnlock()
	return c.ops.load[ns]
}

// Operations returns the shards' own counters for a collection as they were last read, in which each grows until
// its shard has another primary; nil when they were not read.
func (c *Collector) Operations(ns topology.Namespace) map[string]Operations {
	c.ops.mu.RLock()
	defer c.ops.mu.RUnlock()
	return c.ops.last[ns].shards
}
