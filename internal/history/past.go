package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// eventsShown is how many changelog entries a past table has of the server's own collections, and
// how many of all others: as many as the current table.
const eventsShown = 1000

// Moment is the state at a past time.
type Moment struct {
	Table *topology.Table
	At    time.Time
	// Watched is false when nothing was recorded at that time: the table is then the last one
	// before it, and changes up to Next may be missing.
	Watched bool
	Last    time.Time // last recorded time before At
	Next    time.Time // first recorded time after At; zero: none yet
}

// Past returns past states from a store. Safe for concurrent use.
type Past struct {
	kept  store.History
	now   func() time.Time
	until func(cluster string) time.Time // nil: nothing is being recorded here
	maps  keptChunkMaps
}

// NewPast reads from a store; a nil now is time.Now.
func NewPast(kept store.History, now func() time.Time) *Past {
	if now == nil {
		now = time.Now
	}
	return &Past{kept: kept, now: now}
}

// Follow makes the spans of a cluster that a recorder of this process records end where it is. Call it
// before the first question.
func (p *Past) Follow(r *Recorder) { p.until = r.WatchedUntil }

// At returns the table of a past time; fault.NotFound when history does not reach back so far. It
// costs one read per collection and the chunks of each.
func (p *Past) At(ctx context.Context, cluster string, at time.Time) (Moment, error) {
	t, err := p.Table(ctx, cluster, at)
	if err != nil {
		return Moment{}, err
	}
	out := Moment{Table: t, At: at}
	return out, p.Watch(ctx, cluster, &out)
}

// Table is At without Watched, which can still change for recent times; the table of a past time
// never changes.
func (p *Past) Table(ctx context.Context, cluster string, at time.Time) (*topology.Table, error) {
	entries, err := p.kept.HistoryOf(ctx, cluster, frameStream, at)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, p.tooEarly(ctx, cluster, at)
	}
	t := &topology.Table{Built: at, Loaded: true, Seq: uint64(entries[len(entries)-1].Seq), Health: healthAt(at)}
	body, err := unpack(entries[len(entries)-1].Body)
	if err != nil {
		return nil, unreadableTime(at, err)
	}
	metas, err := decodeFrame(body, t)
	if err != nil {
		return nil, unreadableTime(at, err)
	}
	t.ClusterID = cluster
	t.Disks = disksNotRecorded(t.Shards)
	var lost []string // collections with unreadable rows
	for _, m := range metas {
		c, err := p.keptOrBuilt(ctx, cluster, m, at)
		if undecodable(err) {
			lost = append(lost, string(m.NS))
			continue
		}
		if err != nil {
			return nil, err
		}
		if c != nil {
			t.Collections = append(t.Collections, c)
		}
	}
	if len(lost) > 0 {
		h := t.Health[topology.PartRouting]
		h.Note = fmt.Sprintf(
			"The recorded chunks of %s are unreadable, so they are left out.",
			sanitize.Line(sanitize.Shorten(strings.Join(lost, ", "), 300)),
		)
		t.Health[topology.PartRouting] = h
	}
	if err := p.sizes(ctx, cluster, t, at); err != nil {
		return nil, err
	}
	if err := p.events(ctx, cluster, t, at); err != nil {
		return nil, err
	}
	return t, nil
}

// unreadableTime is the error for a time whose stored state cannot be decoded.
func unreadableTime(at time.Time, err error) error {
	return fault.Wrap(
		fault.Unavailable,
		err,
		"The recorded state of %s is unreadable: its row in the database was changed or damaged. Choose a time before or after the next change.",
		at.UTC().Format(time.RFC3339),
	)
}

func (p *Past) tooEarly(ctx context.Context, cluster string, at time.Time) error {
	begin, err := p.Begin(ctx, cluster)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, "There is no history of %s: the history of this cluster begins at %s.",
		at.UTC().Format(time.RFC3339), begin.Format(time.RFC3339))
}

// chunks builds one collection's chunk map. It also returns how many rows of changes were applied
// to the full state; nil when the chunks were not yet recorded.
func (p *Past) chunks(ctx context.Context, cluster string, m topology.Meta, at time.Time) (*topology.Collection, int, error) {
	entries, err := p.kept.HistoryOf(ctx, cluster, chunksStream(m), at)
	if err != nil || len(entries) == 0 {
		return nil, 0, err
	}
	return build(m, entries, at)
}

// build makes a collection of the entries of its stream: a full state and changes of it.
func build(m topology.Meta, entries []store.HistoryEntry, at time.Time) (*topology.Collection, int, error) {
	fail := func(err error) (*topology.Collection, int, error) {
		return nil, 0, fmt.Errorf("chunks of %s at %s: %w", m.NS, at, err)
	}
	var chunks *topology.ChunkMap
	if entries[0].Whole {
		var err error
		if chunks, err = unpackChunks(m.Key, entries[0].Body); err != nil {
			return fail(err)
		}
		entries = entries[1:]
	}
	rows, whole, err := decodeEntries(m, entries)
	switch {
	case err != nil:
		return nil, 0, err
	case chunks == nil || whole > 0:
		chunks, err = topology.BuildChunks(m.Key, newest(rows))
	default:
		chunks, _, err = chunks.Apply(newest(rows))
	}
	if err != nil {
		return fail(err)
	}
	return &topology.Collection{Meta: m, Highest: chunks.Highest(), Chunks: chunks}, len(rows) - whole, nil
}

// decodeEntries gives the rows of entries, and how many of them are of a full state.
func decodeEntries(m topology.Meta, entries []store.HistoryEntry) (rows []topology.Chunk, whole int, err error) {
	for _, e := range entries {
		body, err := unpack(e.Body)
		if err != nil {
			return nil, 0, err
		}
		some, err := decodeChunks(body)
		if err != nil {
			return nil, 0, fmt.Errorf("chunks of %s: %w", m.NS, err)
		}
		if e.Whole {
			whole = len(some)
		}
		rows = append(rows, some...)
	}
	return rows, whole, nil
}

// keptOrBuilt is the collection of a past time, made from that of an earlier time where it is
// kept.
func (p *Past) keptOrBuilt(ctx context.Context, cluster string, m topology.Meta, at time.Time) (*topology.Collection, error) {
	entries, err := p.kept.HistoryOf(ctx, cluster, chunksStream(m), at)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	last := entries[len(entries)-1].Seq
	if earlier, later := p.maps.newest(entries); earlier != nil && bytes.Equal(earlier.Pattern().Raw(), m.Key.Raw()) {
		if rows, whole, err := decodeEntries(m, later); err == nil && whole == 0 {
			if chunks, _, err := earlier.Apply(newest(rows)); err == nil {
				p.maps.put(last, chunks)
				return &topology.Collection{Meta: m, Highest: chunks.Highest(), Chunks: chunks}, nil
			}
		}
	}
	c, _, err := build(m, entries, at)
	if err == nil {
		p.maps.put(last, c.Chunks)
	}
	return c, err
}

// newest keeps the last written of rows with the same bounds and version: a jumbo flag changes
// without a new version.
func newest(rows []topology.Chunk) []topology.Chunk {
	type identity struct {
		min, max string
		version  topology.Version
	}
	last := make(map[identity]int, len(rows))
	out := rows[:0]
	for _, c := range rows {
		id := identity{c.Min.Encoded(), c.Max.Encoded(), c.Version}
		if i, seen := last[id]; seen {
			out[i] = c
			continue
		}
		last[id] = len(out)
		out = append(out, c)
	}
	return out
}

func (p *Past) sizes(ctx context.Context, cluster string, t *topology.Table, at time.Time) error {
	t.Sizes = map[topology.Namespace]topology.Sizes{}
	names := slices.Clone(t.Unsharded)
	for _, c := range t.Collections {
		names = append(names, c.NS)
	}
	for _, ns := range names {
		entries, err := p.kept.HistoryOf(ctx, cluster, sizesStream(ns), at)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			t.Sizes[ns] = topology.Sizes{NS: ns, Reason: "notRecorded"}
			continue
		}
		body, err := unpack(entries[len(entries)-1].Body)
		var s topology.Sizes
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		if err == nil { // unreadable sizes count as unknown
			t.Sizes[ns] = s
		}
	}
	return nil
}

func (p *Past) events(ctx context.Context, cluster string, t *topology.Table, at time.Time) error {
	q := store.HistoryEvents{To: at.Add(time.Millisecond), Limit: eventsShown}
	for _, internal := range []bool{false, true} {
		q.Without = func(e store.HistoryEvent) bool { return keptEvent(e).Internal() != internal }
		kept, err := p.kept.Events(ctx, cluster, q)
		if err != nil {
			return err
		}
		for _, e := range kept {
			t.Events = append(t.Events, keptEvent(e))
		}
		if len(kept) == q.Limit {
			q.From = kept[len(kept)-1].At // do not search further back for the server's own collections
		}
	}
	slices.SortStableFunc(t.Events, func(a, b topology.Event) int { return b.Time.Compare(a.Time) })
	return nil
}

// spans returns the recorded time spans, oldest first. The last one ends with what was stored last,
// or with what this process has seen since. A process that is gone has seen nothing since.
func (p *Past) spans(ctx context.Context, cluster string) ([]store.Watched, error) {
	spans, err := p.kept.WatchedSpans(ctx, cluster, time.Time{}, time.Time{})
	if err != nil || len(spans) == 0 || p.until == nil {
		return spans, err
	}
	last := &spans[len(spans)-1]
	if at := p.until(cluster).UTC().Round(0); at.After(last.To) {
		last.To = at
	}
	return spans, nil
}

// LastRecorded is the end of the last recorded time span; zero when nothing is recorded.
func (p *Past) LastRecorded(ctx context.Context, cluster string) (time.Time, error) {
	spans, err := p.kept.WatchedSpans(ctx, cluster, time.Time{}, time.Time{})
	if err != nil || len(spans) == 0 {
		return time.Time{}, err
	}
	return spans[len(spans)-1].To, nil
}

// Watch sets whether the moment's time was recorded.
func (p *Past) Watch(ctx context.Context, cluster string, m *Moment) error {
	m.Watched, m.Last, m.Next = false, time.Time{}, time.Time{}
	spans, err := p.spans(ctx, cluster)
	if err != nil {
		return err
	}
	for _, s := range spans {
		switch {
		case s.From.After(m.At):
			if m.Next.IsZero() {
				m.Next = s.From
			}
		case s.To.Before(m.At):
			m.Last = s.To
		default:
			m.Watched, m.Last = true, m.At
		}
	}
	return nil
}

// disksNotRecorded marks the disks as not recorded: their usage changes all the time and concerns machines,
// not the placement of data.
func disksNotRecorded(shards []topology.Shard) map[string]topology.Disk {
	out := make(map[string]topology.Disk, len(shards))
	for _, s := range shards {
		out[s.Name] = topology.NoDisk("notKept")
	}
	return out
}

// healthAt marks every part as read at that time, so that the past never appears stale.
func healthAt(at time.Time) map[topology.Part]topology.Health {
	out := map[topology.Part]topology.Health{}
	for _, p := range []topology.Part{topology.PartRouting, topology.PartShards, topology.PartDatabases, topology.PartZones,
		topology.PartSettings,
		topology.PartRouters, topology.PartBalancer, topology.PartEvents, topology.PartSizes, topology.PartCollections,
		topology.PartDisks, topology.PartMoves} {
		out[p] = topology.Health{At: at}
	}
	return out
}
