package history

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// endless has an entry for each second.
type endless struct{ store.History }

func (endless) Events(_ context.Context, _ string, q store.HistoryEvents) (out []store.HistoryEvent, _ error) {
	for i := 0; len(out) < q.Limit; i++ {
		e := store.HistoryEvent{ID: fmt.Sprint(i), At: q.To.Add(-time.Duration(i+1) * time.Second), What: "split"}
		if !q.Without(e) {
			out = append(out, e)
		}
		if q.Enough() {
			break
		}
	}
	return out, nil
}

func TestSearchEndsAtItsBoundsAndSaysWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := time.Now()
		for each, read := range map[time.Duration]int{0: 25_000, time.Millisecond / 10: 1000} {
			began := time.Now()
			found, err := NewPast(endless{}, time.Now).Search(t.Context(), "c", time.Time{}, to, 5,
				func(topology.Event) bool { time.Sleep(each); return false })
			if want := to.Add(-time.Duration(read) * time.Second); err != nil || len(found.Events) != 0 || !found.Until.Equal(want) ||
				found.LastID != fmt.Sprint(read-1) || time.Since(began) > searchTime {
				t.Errorf("%s for an entry: %+v, %v", each, found, err)
			}
		}
		found, err := NewPast(endless{}, time.Now).Search(t.Context(), "c", time.Time{}, to, 5, func(topology.Event) bool { return true })
		if err != nil || len(found.Events) != 5 || !found.Until.IsZero() {
			t.Errorf("all are found: %+v, %v", found, err)
		}
	})
}
