package history

import (
	"bytes"
	"context"
	"log/slog"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

const (
	// Keep is how far back history goes.
	Keep = 5 * 7 * 24 * time.Hour
	// sizesEvery is how often a collection's sizes are kept: they are estimates that
	// move all the time, and a curve over weeks needs no more.
	sizesEvery = 10 * time.Minute
	// lookedEvery is how often it is noted that somebody looks, and lookedGap from
	// when on a pause is one.
	lookedEvery = time.Minute
	lookedGap   = 3 * time.Minute
	trimEvery   = 6 * time.Hour
	// wholeAfter is how many rows of changes a stream may have before its whole
	// state is written again, and wholePart a part of the map likewise: few whole
	// states keep the file small, few changes make the past quick to read.
	wholeAfter = 4096
	wholePart  = 4
)

// Tables is where tables come from.
type Tables interface {
	Subscribe() (*topology.Table, <-chan struct{}, func())
	Table() *topology.Table
}

// Recorder writes down what the watcher sees. Run is its only goroutine.
type Recorder struct {
	kept   store.History
	tables Tables
	log    *slog.Logger
	now    func() time.Time

	cluster string
	last    *topology.Table // the last one that was written down
	noted   time.Time       // when
	frame   []byte
	chunks  map[string]*recorded // by stream
	sizes   map[topology.Namespace]time.Time
	failing bool
}

// recorded is what the store has of a collection's chunks.
type recorded struct {
	chunks *topology.ChunkMap
	rows   int // of changes since the last whole state
}

// NewRecorder writes into a store; a nil log discards, a nil now is time.Now.
func NewRecorder(kept store.History, tables Tables, log *slog.Logger, now func() time.Time) *Recorder {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if now == nil {
		now = time.Now
	}
	return &Recorder{kept: kept, tables: tables, log: log, now: now}
}

// Run writes down every table until the context ends. A store that fails is
// tried again with the next table, and what it missed comes with it.
func (r *Recorder) Run(ctx context.Context) error {
	table, news, cancel := r.tables.Subscribe()
	defer cancel()
	looked := time.NewTicker(lookedEvery)
	defer looked.Stop()
	trim := time.NewTicker(trimEvery)
	defer trim.Stop()
	for {
		r.told(r.Note(ctx, table))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-news:
		case <-looked.C:
			r.told(r.look(ctx))
		case <-trim.C:
			if r.cluster != "" {
				r.told(r.kept.TrimHistory(ctx, r.cluster, r.now().Add(-Keep)))
			}
		}
		table = r.tables.Table()
	}
}

// told logs when writing begins to fail and when it works again.
func (r *Recorder) told(err error) {
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

// look notes that somebody looks now, as far as the cluster answers.
func (r *Recorder) look(ctx context.Context) error {
	if r.cluster == "" || r.tables.Table().Stale(topology.PartRouting, r.now()) {
		return nil
	}
	return r.kept.NoteWatched(ctx, r.cluster, r.now(), lookedGap)
}

// Note writes down what is new in a table. It is what Run does; call it only
// where Run does not run.
func (r *Recorder) Note(ctx context.Context, t *topology.Table) error {
	if t == r.last || !t.Loaded || t.ClusterID == "" {
		return nil
	}
	at := r.now().Round(0) // by the wall clock, which is what is written
	// When the clock was set back, what was known by then is what to compare with,
	// as after a restart: else the changes of today would be laid over yesterday's
	// chunks, and both would make no sense.
	if r.cluster != t.ClusterID || clock.Ahead(r.noted, at) {
		if err := r.begin(ctx, t, at); err != nil {
			return err
		}
	}
	r.noted = at
	d := draft{at: at, chunks: map[string]*recorded{}, sizes: map[topology.Namespace]time.Time{}}
	if err := r.draftFrame(t, &d); err != nil {
		return err
	}
	for _, c := range t.Collections {
		r.draftChunks(c, &d)
	}
	if err := r.draftSizes(t, &d); err != nil {
		return err
	}
	r.draftEvents(t, &d)
	if len(d.entries) > 0 || len(d.events) > 0 {
		if err := r.kept.AppendHistory(ctx, r.cluster, d.entries, d.events); err != nil {
			return err
		}
	}
	r.commit(t, &d)
	return nil
}

// begin takes up the history of a cluster where it was left.
func (r *Recorder) begin(ctx context.Context, t *topology.Table, at time.Time) error {
	past := NewPast(r.kept, r.now)
	chunks := map[string]*recorded{}
	for _, c := range t.Collections {
		stream := chunksStream(c.Meta)
		known, rows, err := past.chunks(ctx, t.ClusterID, c.Meta, at)
		if fault.Of(err) == fault.Unavailable {
			return err
		}
		if err != nil {
			// What cannot be read any more is begun anew, not built on.
			r.log.Warn("kept history cannot be read; it begins anew", "ns", string(c.NS), "error", err)
			continue
		}
		if known != nil {
			chunks[stream] = &recorded{chunks: known.Chunks, rows: rows}
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
	// However short ago the last process ended: nobody looked in between.
	if err := r.kept.NoteWatched(ctx, t.ClusterID, at, 0); err != nil {
		return err
	}
	r.cluster, r.chunks, r.last, r.sizes = t.ClusterID, chunks, nil, map[topology.Namespace]time.Time{}
	return nil
}

// commit remembers what the store has now.
func (r *Recorder) commit(t *topology.Table, d *draft) {
	r.last = t
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

// draftFrame compares the bytes only when some part of the table is another one.
func (r *Recorder) draftFrame(t *topology.Table, d *draft) error {
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
