package history

import (
	"bytes"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const (
	// Keep is how far back history goes.
	Keep = 5 * 7 * 24 * time.Hour
	// sizesEvery is how often a collection's sizes are recorded: they change all the time, and a
	// curve over weeks needs no more.
	sizesEvery = 10 * time.Minute
	// noteEvery is the shortest time from one record to the next: in a storm of changes each table costs a transaction.
	noteEvery = 2 * time.Second
	// watchedEvery is how often the end of the watched span is stored, if nothing changes; a pause
	// longer than watchedGap is a gap.
	watchedEvery = time.Minute
	watchedGap   = 3 * time.Minute
	trimEvery    = 6 * time.Hour
	// A stream's full state is written again after wholeAfter rows of changes, or after one
	// wholePart-th of the map: few full states keep the file small, few changes make the past quick
	// to read.
	wholeAfter = 4096
	wholePart  = 4
)

// Tables is the source of tables.
type Tables interface {
	// Subscribe returns the newest table and a channel that receives a value when a newer one is there. Changes in quick
	// succession share a value. The last result ends the subscription.
	Subscribe() (*topology.Table, <-chan struct{}, func())
	// Table is the newest one: never nil, not Loaded before the first reads.
	Table() *topology.Table
}

// Recorder stores what the watcher sees. Run is its only goroutine.
type Recorder struct {
	kept   store.History
	tables Tables
	log    *slog.Logger
	now    func() time.Time

	cluster   string
	last      *topology.Table // last recorded table
	lastNoted time.Time       // time of the last record
	frame     []byte
	chunks    map[string]*recordedChunks // chunks by stream
	sizes     map[topology.Namespace]time.Time
	failing   bool
	wrote     bool                  // the last Note stored something
	noted     atomic.Pointer[noted] // nil before the first record
	running   atomic.Bool           // Run records
}

// noted is until when everything of a cluster is recorded, or was seen not to change.
type noted struct {
	cluster string
	at      time.Time
	seq     uint64 // of the table that was recorded last
}

// recordedChunks is what the store has of a collection's chunks.
type recordedChunks struct {
	chunks *topology.ChunkMap
	rows   int // rows of changes since the last full state
}

// NewRecorder writes to a store; a nil log discards, a nil now is time.Now.
func NewRecorder(kept store.History, tables Tables, log *slog.Logger, now func() time.Time) *Recorder {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if now == nil {
		now = time.Now
	}
	return &Recorder{kept: kept, tables: tables, log: log, now: now}
}

// Run records every table until the context ends. After a failed write the next table includes what
// was missed.
func (r *Recorder) Run(ctx context.Context) error {
	table, news, cancel := r.tables.Subscribe()
	defer cancel()
	looked := time.NewTicker(watchedEvery)
	defer looked.Stop()
	trim := time.NewTicker(trimEvery)
	defer trim.Stop()
	r.running.Store(true)
	defer r.running.Store(false)
	for {
		err := r.Note(ctx, table)
		if err == nil && r.wrote { // after a crash, what was recorded lies within the watched span
			err = r.noteWatched(ctx)
		}
		r.logResult(err)
		if r.wrote { // changes that come soon after each other are written together
			if err := clock.Sleep(ctx, noteEvery); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		case <-looked.C:
			r.logResult(r.noteWatched(ctx))
		case <-trim.C:
			if r.cluster != "" {
				r.logResult(r.kept.TrimHistory(ctx, r.cluster, r.now().Add(-Keep)))
			}
		}
		table = r.tables.Table()
	}
}

// Forget makes the next record a full one, as after a start. Call it while Run does not run.
func (r *Recorder) Forget() {
	r.cluster, r.last, r.lastNoted, r.frame, r.failing = "", nil, time.Time{}, nil, false
	r.chunks, r.sizes = nil, nil
}

// Noted is until when everything is recorded, or was seen not to change; zero before the first record. Safe for
// concurrent use.
func (r *Recorder) Noted() time.Time {
	if n := r.noted.Load(); n != nil {
		return n.at
	}
	return time.Time{}
}

// WatchedUntil is until when this process records a cluster; zero when it does not. The store is told
// once in a while only. Safe for concurrent use.
func (r *Recorder) WatchedUntil(cluster string) time.Time {
	n := r.noted.Load()
	if n == nil || n.cluster != cluster || !r.running.Load() {
		return time.Time{}
	}
	t := r.tables.Table()
	if read := t.Health[topology.PartRouting].At; t.ClusterID == cluster && t.Seq == n.seq && read.After(n.at) {
		return read
	}
	return n.at
}

// logResult logs when writing starts to fail and when it works again.
func (r *Recorder) logResult(err error) {
	switch {
	case err != nil && !r.failing && fault.Of(err) != fault.Internal:
		r.log.Warn("history cannot be written", "error", err)
	case err != nil && !r.failing:
		r.log.Error("history cannot be written", "error", err)
	case err == nil && r.failing:
		r.log.Info("history is written again")
	}
	r.failing = err != nil
}

// noteWatched extends the watched span if the cluster answers.
func (r *Recorder) noteWatched(ctx context.Context) error {
	if r.cluster == "" || r.tables.Table().Stale(topology.PartRouting, r.now()) {
		return nil
	}
	at := r.now()
	if err := r.kept.NoteWatched(ctx, r.cluster, at, watchedGap); err != nil {
		return err
	}
	if n := r.noted.Load(); n != nil && !r.failing {
		r.noted.Store(&noted{r.cluster, at, n.seq})
	}
	return nil
}

// Note records what is new in a table. Run calls it; call it only where Run does not run.
func (r *Recorder) Note(ctx context.Context, t *topology.Table) error {
	r.wrote = false
	if t == r.last || !t.Loaded || t.ClusterID == "" {
		return nil
	}
	at := r.now().Round(0) // wall clock time, which is what is stored
	// When the clock was set back, compare with what was known at that time, as after a restart.
	// Otherwise today's changes would be applied to yesterday's chunks.
	if r.cluster != t.ClusterID || clock.Ahead(r.lastNoted, at) {
		if err := r.begin(ctx, t, at); err != nil {
			return err
		}
	}
	r.lastNoted = at
	d := pendingWrite{at: at, chunks: map[string]*recordedChunks{}, sizes: map[topology.Namespace]time.Time{}}
	if err := r.addFrame(t, &d); err != nil {
		return err
	}
	for _, c := range t.Collections {
		r.addChunks(c, &d)
	}
	if err := r.addSizes(t, &d); err != nil {
		return err
	}
	r.addEvents(t, &d)
	if len(d.entries) > 0 || len(d.events) > 0 {
		if err := r.kept.AppendHistory(ctx, r.cluster, d.entries, d.events); err != nil {
			return err
		}
		r.wrote = true
	}
	r.commit(t, &d)
	return nil
}

// begin resumes the history of a cluster.
func (r *Recorder) begin(ctx context.Context, t *topology.Table, at time.Time) error {
	past := NewPast(r.kept, r.now)
	chunks := map[string]*recordedChunks{}
	for _, c := range t.Collections {
		stream := chunksStream(c.Meta)
		known, rows, err := past.chunks(ctx, t.ClusterID, c.Meta, at)
		if fault.Of(err) == fault.Unavailable {
			return err
		}
		if err != nil {
			// Unreadable history is started anew and not built on.
			r.log.Warn("stored history is unreadable; starting a new one", "ns", string(c.NS), "error", err)
			continue
		}
		if known != nil {
			chunks[stream] = &recordedChunks{chunks: known.Chunks, rows: rows}
		}
	}
	entries, err := r.kept.HistoryOf(ctx, t.ClusterID, frameStream, at)
	if err != nil {
		return err
	}
	r.frame = nil
	if len(entries) > 0 {
		if r.frame, err = unpack(entries[len(entries)-1].Body); err != nil {
			r.frame = nil
		}
	}
	// Even a short restart is a gap: nothing was recorded in between.
	if err := r.kept.NoteWatched(ctx, t.ClusterID, at, 0); err != nil {
		return err
	}
	r.cluster, r.chunks, r.last, r.sizes = t.ClusterID, chunks, nil, map[topology.Namespace]time.Time{}
	return nil
}

// commit remembers what the store has now.
func (r *Recorder) commit(t *topology.Table, d *pendingWrite) {
	r.last = t
	r.noted.Store(&noted{r.cluster, d.at, t.Seq})
	if d.frame != nil {
		r.frame = d.frame
	}
	for stream, c := range d.chunks {
		r.chunks[stream] = c
	}
	for ns, at := range d.sizes {
		r.sizes[ns] = at
	}
}

// addFrame compares the encoded frames only if some part of the table was replaced.
func (r *Recorder) addFrame(t *topology.Table, d *pendingWrite) error {
	if r.last != nil && sameFrame(r.last, t) {
		return nil
	}
	b, err := encodeFrame(t)
	if err != nil {
		return err
	}
	if !bytes.Equal(b, r.frame) {
		d.frame = b
		d.add(frameStream, true, b)
	}
	return nil
}
