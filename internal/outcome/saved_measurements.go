package outcome

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// resumeOpen continues the measurements of an earlier process.
func (r *Recorder) resumeOpen(ctx context.Context, cluster string) error {
	left, err := r.opts.Store.OpenRunOutcomes(ctx, cluster)
	if err != nil {
		return fmt.Errorf("read what was measured of runs: %w", err)
	}
	for _, row := range left {
		run, err := r.opts.Runs.RunByID(ctx, row.Run)
		if fault.Of(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return fmt.Errorf("read run %s: %w", row.Run, err)
		}
		kept, err := decode(row.Body)
		if err != nil {
			r.opts.Log.Warn("what was measured of a run cannot be read", "run", row.Run, "err", err)
		}
		r.mu.Lock()
		if r.active[run.ID] == nil { // otherwise an earlier check that failed later has resumed it
			r.startMeasuring(run, kept)
		}
		r.mu.Unlock()
	}
	return nil
}

// save stores changes and notifies subscribers of closed measurements, and once a minute of what is known so far.
func (r *Recorder) save(ctx context.Context, cluster string) error {
	t := r.opts.Tables.Table()
	r.mu.Lock()
	var news []*Record
	tell := false
	for _, k := range r.active {
		if k.dirty {
			rec := r.toRecord(t, k)
			news, k.dirty = append(news, rec), false
			if n := rec.minutesAfter(); n > k.told {
				k.told, tell = n, true
			}
		}
	}
	r.mu.Unlock()
	var failed error
	for _, rec := range news {
		body, err := json.Marshal(rec)
		if err == nil {
			err = r.opts.Store.SaveRunOutcome(ctx, cluster,
				store.RunOutcome{Run: rec.Run, At: r.opts.Now().UTC().Truncate(time.Millisecond), Open: !rec.Closed, Body: body})
		}
		r.mu.Lock()
		if k := r.active[rec.Run]; k != nil && err != nil {
			k.dirty, failed = true, err
		} else if rec.Closed {
			delete(r.active, rec.Run)
		}
		r.mu.Unlock()
	}
	if tell || slices.ContainsFunc(news, func(rec *Record) bool { return rec.Closed }) {
		r.subscribers.Notify()
	}
	if failed != nil {
		return fmt.Errorf("save what was measured of runs: %w", failed)
	}
	return nil
}

func decode(body []byte) (*Record, error) {
	var rec Record
	if err := json.Unmarshal(body, &rec); err != nil {
		return nil, fmt.Errorf("decode what was measured of a run: %w", err)
	}
	return &rec, nil
}
