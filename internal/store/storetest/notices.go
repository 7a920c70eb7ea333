package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func notices(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("DismissalsAndTakesAreReplacedRemovedAndRecorded", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		dismissal := store.Dismissal{ID: "jumbo.a", By: "user:anna", Reason: "later <b>", At: begin().Add(time.Second)}
		take := store.Take{ID: "hot-shard.a", By: "user:ben", Note: "splitting <b>", At: begin()}
		must.Do(t, s.Dismiss(ctx, "c", store.Dismissal{ID: "jumbo.a", By: "user:ben", At: begin()}, entry("advice.dismiss")))
		must.Do(t, s.Dismiss(ctx, "c", dismissal, entry("advice.dismiss")))
		must.Do(t, s.Take(ctx, "c", store.Take{ID: "hot-shard.a", By: "user:anna", At: begin()}, entry("advice.taken")))
		must.Do(t, s.Take(ctx, "c", take, entry("advice.taken")))
		for cluster, n := range map[string]int{"c": 1, "another": 0} {
			dismissals, err := s.Dismissals(ctx, cluster)
			if must.Do(t, err); !cmp.Equal(dismissals, []store.Dismissal{dismissal}[:n:n], cmpopts.EquateEmpty()) {
				t.Errorf("of %s: %+v", cluster, dismissals)
			}
			takes, err := s.Takes(ctx, cluster)
			if must.Do(t, err); !cmp.Equal(takes, []store.Take{take}[:n:n], cmpopts.EquateEmpty()) {
				t.Errorf("of %s: %+v", cluster, takes)
			}
		}
		must.Do(t, s.Restore(ctx, "c", "jumbo.a", entry("advice.restore")))
		wants(t, "a second restore", s.Restore(ctx, "c", "jumbo.a", entry("advice.restore")), fault.NotFound)
		must.Do(t, s.Leave(ctx, "c", "hot-shard.a", entry("advice.left")))
		wants(t, "a second leave", s.Leave(ctx, "c", "hot-shard.a", entry("advice.left")), fault.NotFound)
		for what, n := range map[string]int{"advice.dismiss": 2, "advice.taken": 2, "advice.restore": 1, "advice.left": 1} {
			if got := recorded(t, s, what); got != n {
				t.Errorf("%s is recorded %d times", what, got)
			}
		}
	})
	t.Run("ExpiredSilencesAreDeleted", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		add := func(id string, at time.Time, d time.Duration) {
			must.Do(t, s.AddSilence(ctx, "c", store.Silence{ID: id, Rule: "jumbo", By: "local", At: at, Until: at.Add(d)}, entry("alert.silence")))
		}
		add("long", begin(), 2*time.Hour)
		add("short", begin(), time.Hour)
		if got, err := s.Silences(ctx, "c", begin()); err != nil || len(got) != 2 || got[0].ID != "short" || got[1].Rule != "jumbo" {
			t.Error(got, err)
		}
		if got, err := s.Silences(ctx, "c", begin().Add(time.Hour)); err != nil || len(got) != 1 || got[0].ID != "long" {
			t.Error("a silence must end at its end time", got, err)
		}
		add("new", begin().Add(90*time.Minute), time.Hour)
		wants(t, "the end of an expired silence", s.EndSilence(ctx, "c", "short", entry("x")), fault.NotFound)
		must.Do(t, s.EndSilence(ctx, "c", "new", entry("x")))
	})
	t.Run("AlertsDeliveriesAndWatchesAreReplacedAndRemoved", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		alert := func(id, body string) store.AlertRecord {
			return store.AlertRecord{ID: id, At: begin(), Body: []byte(body)}
		}
		must.Do(t, s.SaveAlerts(ctx, "c", store.AlertChange{Saved: []store.AlertRecord{alert("b", "1"), alert("a", "2")}}))
		must.Do(t, s.SaveAlerts(ctx, "c", store.AlertChange{Saved: []store.AlertRecord{alert("b", "3")}, Gone: []string{"a", "none"}}))
		if got, err := s.Alerts(ctx, "c"); err != nil || !cmp.Equal(got, []store.AlertRecord{alert("b", "3")}) {
			t.Error(got, err)
		}
		last := store.Delivery{Target: "ops", At: begin(), Code: "ok", Status: 200, Alerts: 2, Test: true}
		must.Do(t, s.SaveDelivery(ctx, "c", store.Delivery{Target: "ops", At: begin(), Code: "timeout", Failed: 1}))
		must.Do(t, s.SaveDelivery(ctx, "c", last))
		if got, err := s.Deliveries(ctx, "c"); err != nil || !cmp.Equal(got, []store.Delivery{last}) {
			t.Error(got, err)
		}
		watch := store.Watch{Kind: "project", Subject: "x", By: "local", At: begin()}
		later, other := watch, watch
		later.At, other.Kind = begin().Add(time.Hour), "chunk"
		for _, w := range []store.Watch{watch, later, other} {
			must.Do(t, s.AddWatch(ctx, "c", w))
		}
		must.Do(t, s.EndWatch(ctx, "c", other))
		if got, err := s.Watches(ctx, "c", "local"); err != nil || !cmp.Equal(got, []store.Watch{watch}) {
			t.Error(got, err)
		}
		if got, err := s.Watches(ctx, "c", "user:anna"); err != nil || len(got) != 0 {
			t.Error("another user has the same watches", got, err)
		}
	})
}
