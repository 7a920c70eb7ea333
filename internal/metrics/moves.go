package metrics

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

var (
	movesDone = counter("moves_total",
		"Moves of chunks that shardboard saw to succeed since its start, by the shard that gave (direction=\"out\") or got (\"in\") the chunk.",
		"collection", "shard", "direction")
	movesFailed = counter("move_failures_total",
		"Moves of chunks that shardboard saw to fail since its start, by the shard that was to give the chunk.",
		"collection", "shard")
)

// Moves counts the moves that the changelog tells of. Safe for concurrent use.
type Moves struct {
	tables interface {
		Table() *topology.Table
		Subscribe() (*topology.Table, <-chan struct{}, func())
	}

	mu      sync.Mutex
	newest  string          // entry of the changelog
	counted map[string]bool // entries of migrations that were counted, or are from before the start
	own     map[topology.Namespace]bool
	done    map[movesOf]int64
	failed  map[movesOf]int64
}

// movesOf is what a counter is of.
type movesOf struct {
	ns        topology.Namespace
	shard     string
	direction string
}

// NewMoves counts nothing before Run.
func NewMoves(tables interface {
	Table() *topology.Table
	Subscribe() (*topology.Table, <-chan struct{}, func())
}) *Moves {
	return &Moves{tables: tables, own: map[topology.Namespace]bool{}, done: map[movesOf]int64{}, failed: map[movesOf]int64{}}
}

// Run counts until the context ends. It sees every table whose changelog has grown: a table holds the newest thousand
// entries, so none is missed between two polls.
func (m *Moves) Run(ctx context.Context) error {
	table, news, end := m.tables.Subscribe()
	defer end()
	for {
		m.read(table)
		select {
		case <-ctx.Done():
			return nil
		case <-news:
		}
		table = m.tables.Table()
	}
}

// read counts the migrations that have ended since the last table.
func (m *Moves) read(t *topology.Table) {
	if t.Health[topology.PartEvents].At.IsZero() {
		return
	}
	newest := ""
	if len(t.Events) > 0 {
		newest = t.Events[0].ID
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.counted == nil
	if !first && newest == m.newest {
		return
	}
	m.newest = newest
	m.begin(t)
	before := m.counted
	m.counted = make(map[string]bool, len(t.Events))
	for _, x := range history.Migrations(t, t.Built, nil, nil) {
		ended := x.Outcome == history.Done || x.Outcome == history.Committed || x.Outcome == history.Aborted
		if !ended {
			continue
		}
		known := first || slices.ContainsFunc(x.Entries, func(id string) bool { return before[id] })
		for _, id := range x.Entries {
			m.counted[id] = true
		}
		if known || topology.IsInternal(x.NS) {
			continue
		}
		ns := x.NS
		if !m.own[ns] {
			ns = otherLabel
		}
		if x.Outcome == history.Aborted {
			m.failed[movesOf{ns: ns, shard: x.From}]++
			continue
		}
		m.done[movesOf{ns, x.From, "out"}]++
		m.done[movesOf{ns, x.To, "in"}]++
	}
}

// begin gives collections counters of their own, at 0, as long as there is room for all shards: Prometheus sees the
// first move as an increase only if the counter was there before. A collection keeps its counters, so that none
// gets smaller.
func (m *Moves) begin(t *topology.Table) {
	room := collectionsShown(len(t.Shards))
	all := slices.Clone(t.Collections)
	slices.SortStableFunc(all, func(a, b *topology.Collection) int { return cmp.Compare(b.Chunks.Len(), a.Chunks.Len()) })
	for _, c := range all {
		if len(m.own) < room && answer.Sharded(c) {
			m.own[c.NS] = true
		}
	}
	for ns := range m.own {
		m.beginOn(ns, t.Shards)
	}
	m.beginOn(otherLabel, t.Shards)
}

func (m *Moves) beginOn(ns topology.Namespace, shards []topology.Shard) {
	for _, s := range shards[:min(len(shards), maxShards)] {
		for _, direction := range []string{"in", "out"} {
			m.done[movesOf{ns, s.Name, direction}] += 0
		}
		m.failed[movesOf{ns: ns, shard: s.Name}] += 0
	}
}

// collect writes the counters.
func (m *Moves) collect(s *series) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := func(ns topology.Namespace) string {
		if ns == otherLabel {
			return otherLabel
		}
		return labelOf(string(ns))
	}
	for of, n := range m.done {
		s.set(movesDone, float64(n), name(of.ns), labelOf(of.shard), of.direction)
	}
	for of, n := range m.failed {
		s.set(movesFailed, float64(n), name(of.ns), labelOf(of.shard))
	}
}
