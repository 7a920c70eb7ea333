package history

import (
	"testing"
	"time"

	"shardboard/internal/fixture/must"
)

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
