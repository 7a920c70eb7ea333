package history

import (
	"context"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
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
		expect.That(t, err == nil && len(gaps) == 1 && gaps[0].From.Equal(last), "gaps: %+v, %v", gaps, err)
	})
}

// A time that passed twice has the changes of both passes. Nothing fails, and the
// current state is correct.
func TestHistoryContinuesWhenTheClockIsSet(t *testing.T) {
	for _, restart := range []bool{false, true} {
		for _, old := range []time.Duration{0, 48 * time.Hour} { // how long there was history before
			if testing.Short() && restart != (old > 0) {
				continue
			}
			ctx, db, w := t.Context(), openStore(t), newWorld(t, 1)
			clock := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
			now := func() time.Time { return clock }
			rec, past := NewRecorder(db, nil, nil, now), NewPast(db, now)
			note := func() {
				t.Helper()
				must.Do(t, rec.Note(ctx, w.table))
			}
			if old > 0 {
				for range 12 {
					note()
					clock = clock.Add(old / 12)
					w.changeAtRandom()
				}
			}
			for _, step := range []time.Duration{0, -24 * time.Hour, 24 * time.Hour, 24 * time.Hour} {
				clock = clock.Add(step)
				if restart {
					rec = NewRecorder(db, nil, nil, now)
				}
				for range 12 {
					note()
					clock = clock.Add(time.Second)
					w.changeAtRandom()
				}
				note()
				m, err := past.At(ctx, "c1", clock.Add(time.Millisecond))
				if err != nil || len(m.Table.Collections) != 1 || !m.Table.Collections[0].Chunks.Equal(w.table.Collections[0].Chunks) {
					t.Errorf("restart %v, history of %s, set by %s: now is not what it is: %v", restart, old, step, err)
				}
				if _, err := past.Timeline(ctx, "c1", Query{To: clock.Add(time.Second)}); err != nil {
					t.Errorf("restart %v, history of %s, set by %s: %v", restart, old, step, err)
				}
			}
		}
	}
}

func TestBalancerIsNamedOnlyIfItLoggedARoundWithMoves(t *testing.T) {
	round := func(end time.Duration, took time.Duration, moved int64, failed bool) topology.BalancerAction {
		return topology.BalancerAction{ID: end.String(), What: "balancer.round", Time: noon.Add(end), Took: took, Moved: moved, Failed: failed}
	}
	all := time.Unix(0, 0)
	for name, c := range map[string]struct {
		item  Item
		r     topology.Rounds
		by    By
		basis string
	}{
		"in a round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Minute, 90*time.Second, 1, false)}}, ByBalancer, "rounds"},
		"a round that moved nothing": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Second, 3*time.Second, 0, true)}}, ByOther, "noRound"},
		"a failure in one": {Item{At: noon, Kind: Logged, Failed: true},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(time.Second, 3*time.Second, 0, true)}}, ByBalancer, "rounds"},
		"no round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{round(-time.Minute, time.Second, 1, false)}}, ByOther, "noRound"},
		"the switch is no round": {Item{At: noon, Kind: Moved},
			topology.Rounds{From: all, To: noon.Add(time.Hour),
				Actions: []topology.BalancerAction{{What: "balancer.start", Time: noon, Moved: 1}}}, ByOther, "noRound"},
		"a moment ago":  {Item{At: noon, Kind: Moved}, topology.Rounds{From: all, To: noon.Add(time.Second)}, ByUnknown, "roundsOpen"},
		"still running": {Item{At: noon}, topology.Rounds{From: all, To: noon.Add(10 * time.Minute)}, ByUnknown, "roundsOpen"},
		"before what is read": {Item{At: noon, Kind: Moved}, topology.Rounds{From: noon.Add(time.Minute), To: noon.Add(time.Hour)},
			ByUnknown, "roundsGone"},
		"not read":      {Item{At: noon, Kind: Moved}, topology.Rounds{}, ByUnknown, "roundsUnread"},
		"not permitted": {Item{At: noon, Kind: Moved}, topology.Rounds{Denied: true}, ByUnknown, "roundsDenied"},
	} {
		on := state{balancer: topology.Balancer{Known: true, Mode: "full"}, knownColl: true, balances: true, rounds: c.r}
		if got := causeOf(c.item, "move", nil, on); got.By != c.by || got.Basis != c.basis || got.Inferred != (c.by != ByUnknown) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
