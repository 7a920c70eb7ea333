package simcluster

import (
	"sync"
	"sync/atomic"
	"time"
)

// counters holds the counts shown by serverStatus and $collStats. Safe for concurrent
// use.
type counters struct {
	requests, asserts                             atomic.Int64
	inserts, queries, updates, deletes, gets, any atomic.Int64
	connections, created                          atomic.Int32
	replies                                       atomic.Int32

	mu      sync.Mutex
	latency map[latencyKey]*latencies
}

// latencyKey is a collection on one shard.
type latencyKey struct{ shard, ns string }

// latencies sum up how long operations took, in microseconds.
type latencies struct {
	readMicros, reads, writeMicros, writes int64
}

func (s *counters) connected() int32 {
	s.connections.Add(1)
	return s.created.Add(1)
}

func (s *counters) disconnected()    { s.connections.Add(-1) }
func (s *counters) nextReply() int32 { return s.replies.Add(1) }
func (s *counters) asserted()        { s.asserts.Add(1) }
func (s *counters) inserted(n int)   { s.inserts.Add(int64(n)) }
func (s *counters) updated(n int)    { s.updates.Add(int64(n)) }
func (s *counters) deleted(n int)    { s.deletes.Add(int64(n)) }

// count adds a command to the opcounters of serverStatus.
func (s *counters) count(name string) {
	s.requests.Add(1)
	switch name {
	case "find", "aggregate":
		s.queries.Add(1)
	case "getMore":
		s.gets.Add(1)
	case "insert", "update", "delete":
	default:
		s.any.Add(1)
	}
}

// took adds an operation to a collection's latencies.
func (s *counters) took(shard, ns string, write bool, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latency == nil {
		s.latency = make(map[latencyKey]*latencies)
	}
	l := s.latency[latencyKey{shard, ns}]
	if l == nil {
		l = &latencies{}
		s.latency[latencyKey{shard, ns}] = l
	}
	if write {
		l.writes++
		l.writeMicros += d.Microseconds()
	} else {
		l.reads++
		l.readMicros += d.Microseconds()
	}
}

// timed adds an operation that began at begin to the latencies of every shard that
// took part; call it deferred.
func (c *Cluster) timed(t target, write bool, begin time.Time) {
	took := time.Since(begin)
	for _, s := range t.sources {
		c.stats.took(s.shard, t.ns, write, took)
	}
}

func (s *counters) latencyOf(shard, ns string) latencies {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.latency[latencyKey{shard, ns}]; l != nil {
		return *l
	}
	return latencies{}
}
