package sqlite

import (
	"errors"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

func TestDismissalsAreStoredReplacedAndRemovedWithAuditRecords(t *testing.T) {
	ctx, dir, now := t.Context(), t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := open(t, dir)
	say := func(what string) store.AuditEntry {
		return store.AuditEntry{Cluster: "c", At: now, By: "user:anna", What: what}
	}
	for i, reason := range []string{"later", "never <b>"} {
		if err := db.Dismiss(ctx, "c",
			store.Dismissal{ID: "jumbo.a", By: "user:anna", Reason: reason, At: now.Add(time.Duration(i) * time.Second)},
			say("advice.dismiss")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := db.Dismissals(ctx, "c")
	if err != nil || len(got) != 1 || got[0].Reason != "never <b>" || !got[0].At.Equal(now.Add(time.Second)) || got[0].By != "user:anna" {
		t.Fatal(got, err)
	}
	if other, err := db.Dismissals(ctx, "d"); err != nil || len(other) != 0 {
		t.Fatal("another cluster has the same dismissals", other, err)
	}
	must(t, db.Restore(ctx, "c", "jumbo.a", say("advice.restore")))
	if err := db.Restore(ctx, "c", "jumbo.a", say("advice.restore")); fault.Of(err) != fault.NotFound {
		t.Fatal(err)
	}
	log, err := db.AuditRecords(ctx, 0, 10)
	if err != nil || len(log) != 3 || log[2].What != "advice.restore" {
		t.Fatal("the audit record must have the changes and nothing else", log, err)
	}
	must(t, db.Close())
}

func TestExpiredSilencesAreDeleted(t *testing.T) {
	ctx, db, now := t.Context(), open(t, t.TempDir()), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	add := func(id string, at time.Time, d time.Duration) {
		t.Helper()
		if err := db.AddSilence(ctx, "c", store.Silence{ID: id, Rule: "jumbo", By: "local", Reason: "r", At: at, Until: at.Add(d)},
			store.AuditEntry{At: at, What: "alert.silence"}); err != nil {
			t.Fatal(err)
		}
	}
	add("long", now, 2*time.Hour)
	add("short", now, time.Hour)
	if got, err := db.Silences(ctx, "c", now); err != nil || len(got) != 2 || got[0].ID != "short" || got[1].Rule != "jumbo" {
		t.Fatal(got, err)
	}
	if got, _ := db.Silences(ctx, "c", now.Add(time.Hour)); len(got) != 1 || got[0].ID != "long" {
		t.Fatal("a silence must end at its end time", got)
	}
	add("new", now.Add(90*time.Minute), time.Hour)
	if err := db.EndSilence(ctx, "c", "short", store.AuditEntry{At: now}); fault.Of(err) != fault.NotFound {
		t.Fatal("expired silences are still stored", err)
	}
	must(t, db.EndSilence(ctx, "c", "new", store.AuditEntry{At: now}))
}

func TestAlertsDeliveriesAndWatchesOutliveARestart(t *testing.T) {
	ctx, dir, now := t.Context(), t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := open(t, dir)
	err := errors.Join(
		db.SaveAlerts(
			ctx,
			"c",
			store.AlertChange{Saved: []store.AlertRecord{{ID: "b", At: now, Body: []byte("1")}, {ID: "a", At: now, Body: []byte("2")}}},
		),
		db.SaveAlerts(
			ctx,
			"c",
			store.AlertChange{Saved: []store.AlertRecord{{ID: "b", At: now, Body: []byte("3")}}, Gone: []string{"a", "none"}},
		),
		db.SaveDelivery(ctx, "c", store.Delivery{Target: "ops", At: now, Code: "timeout", Failed: 1}),
		db.SaveDelivery(ctx, "c", store.Delivery{Target: "ops", At: now, Code: "ok", Status: 200, Alerts: 2, Test: true}),
		db.AddWatch(ctx, "c", store.Watch{Kind: "project", Subject: "x", By: "local", At: now}),
		db.AddWatch(ctx, "c", store.Watch{Kind: "project", Subject: "x", By: "local", At: now.Add(time.Hour)}),
		db.AddWatch(ctx, "c", store.Watch{Kind: "chunk", Subject: "x", By: "local", At: now}),
		db.EndWatch(ctx, "c", store.Watch{Kind: "chunk", Subject: "x", By: "local"}),
		db.Close(),
	)
	must(t, err)
	db = open(t, dir)
	alerts, err := db.Alerts(ctx, "c")
	if err != nil || len(alerts) != 1 || string(alerts[0].Body) != "3" {
		t.Error(alerts, err)
	}
	deliveries, err := db.Deliveries(ctx, "c")
	if err != nil || len(deliveries) != 1 ||
		deliveries[0] != (store.Delivery{Target: "ops", At: now, Code: "ok", Status: 200, Alerts: 2, Test: true}) {
		t.Error(deliveries, err)
	}
	watches, err := db.Watches(ctx, "c", "local")
	if err != nil || len(watches) != 1 || !watches[0].At.Equal(now) {
		t.Error(watches, err)
	}
	if others, _ := db.Watches(ctx, "c", "user:anna"); len(others) != 0 {
		t.Error("another user has the same watches", others)
	}
}

func TestWhoTookAProblemIsStoredReplacedAndRemoved(t *testing.T) {
	ctx, now := t.Context(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := open(t, t.TempDir())
	e := store.AuditEntry{Cluster: "c", At: now, By: "user:anna", What: "advice.taken"}
	for _, by := range []string{"user:anna", "user:ben"} {
		must(t, db.Take(ctx, "c", store.Take{ID: "hot-shard.a", By: by, Note: "splitting <b>", At: now}, e))
	}
	got, err := db.Takes(ctx, "c")
	if err != nil || len(got) != 1 || got[0] != (store.Take{ID: "hot-shard.a", By: "user:ben", Note: "splitting <b>", At: now}) {
		t.Fatal(got, err)
	}
	if other, err := db.Takes(ctx, "d"); err != nil || len(other) != 0 {
		t.Fatal("another cluster has the same", other, err)
	}
	must(t, db.Leave(ctx, "c", "hot-shard.a", e))
	if err := db.Leave(ctx, "c", "hot-shard.a", e); fault.Of(err) != fault.NotFound {
		t.Fatal(err)
	}
	if log, err := db.AuditRecords(ctx, 0, 10); err != nil || len(log) != 3 {
		t.Fatal(log, err)
	}
}
