package history

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// readTables is a watcher that reads when it is told to.
type readTables struct {
	mu    sync.Mutex
	table *topology.Table
	news  chan struct{}
}

func (r *readTables) Table() *topology.Table {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.table
}

func (r *readTables) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return r.Table(), r.news, func() {}
}

// read has the table read now; a changed one is news.
func (r *readTables) read(t *topology.Table) {
	next := *t
	next.Health = maps.Clone(t.Health)
	next.Health[topology.PartRouting] = topology.Health{At: time.Now()}
	r.mu.Lock()
	changed := next.Seq != r.table.Seq
	r.table = &next
	r.mu.Unlock()
	if changed {
		r.news <- struct{}{}
	}
}

func TestWatchedTimeEndsWithTheProcessThatWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, w, start := openStore(t), newWorld(t, 1), time.Now()
		tables := &readTables{table: w.table, news: make(chan struct{}, 1)}
		process := func() (past *Past, kill func()) {
			rec := NewRecorder(db, tables, nil, nil)
			past = NewPast(db, nil)
			past.Follow(rec)
			ctx, cancel := context.WithCancel(t.Context())
			var ended sync.WaitGroup
			ended.Go(func() { _ = rec.Run(ctx) })
			return past, func() { cancel(); ended.Wait() }
		}
		watch := func(how time.Duration) {
			for end := time.Now().Add(how); time.Now().Before(end); time.Sleep(2 * time.Second) {
				tables.read(w.table)
			}
		}
		moment := func(p *Past, at time.Duration) Moment {
			t.Helper()
			m, err := p.At(t.Context(), "c1", start.Add(at))
			must.Do(t, err)
			return m
		}
		past, kill := process()
		watch(50 * time.Second)
		if m := moment(past, 48*time.Second); !m.Watched {
			t.Errorf("while it watches: %+v", m)
		}
		w.changeAtRandom()
		watch(4 * time.Second) // it is stored at 50 s
		watch(20 * time.Second)
		kill()
		killed := time.Since(start)
		time.Sleep(time.Minute)
		if m := moment(past, killed+30*time.Second); m.Watched || !m.Next.IsZero() {
			t.Errorf("a dead process watched: %+v", m)
		}
		last, err := past.LastRecorded(t.Context(), "c1") // before the next process records that it begins
		fresh, killAgain := process()
		defer killAgain()
		if at := last.Sub(start); err != nil || at < 50*time.Second || at > killed {
			t.Errorf("recorded until %s, %v; the last change was at 50 s and the end at %s", at, err, killed)
		}
		begun := time.Since(start)
		watch(10 * time.Second)
		if m := moment(fresh, killed+30*time.Second); m.Watched || !m.Last.Equal(last) || m.Next.Sub(start).Round(time.Second) != begun {
			t.Errorf("between two processes: %+v, want a gap from %s to %s", m, last.Sub(start), begun)
		}
		if m := moment(fresh, begun+5*time.Second); !m.Watched {
			t.Errorf("the next process watches: %+v", m)
		}
		gaps, err := fresh.Gaps(t.Context(), "c1", start, time.Now())
		if err != nil || len(gaps) != 1 || !gaps[0].From.Equal(last) {
			t.Errorf("gaps: %+v, %v", gaps, err)
		}
	})
}
