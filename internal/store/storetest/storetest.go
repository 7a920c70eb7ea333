// Package storetest tests implementations of store.Store, one file per area. A test calls Run with
// a function that opens an empty store and closes it when the test ends.
package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// Run runs every area's tests.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, area := range []struct {
		name string
		run  func(*testing.T, func(*testing.T) store.Store)
	}{
		{"Settings", settings}, {"Audit", auditChain}, {"Users", users}, {"Sessions", sessions}, {"Seals", seals}, {"Tokens", tokens},
		{"Journal", journal}, {"Heat", heatPictures}, {"History", placementHistory}, {"EventCounts", eventCounts}, {"Surveys", surveys},
		{"Holdings", holdings}, {"Notices", notices}, {"RunOutcomes", runOutcomes}, {"Problems", problemHistory}, {"Whole", whole},
	} {
		t.Run(area.name, func(t *testing.T) { area.run(t, open) })
	}
}

// begin is a time with milliseconds, which a store must return unchanged.
func begin() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123_000_000, time.UTC) }

func entry(what string) store.AuditEntry {
	return store.AuditEntry{At: begin(), By: "user:1", What: what, Outcome: "ok"}
}

// same fails unless what came back is what was stored.
func same(t *testing.T, got, want any) {
	t.Helper()
	diff := cmp.Diff(want, got)
	expect.That(t, diff == "", "%s", diff)
}

// wants fails unless err is of a kind.
func wants(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	expect.That(t, err != nil && fault.Of(err) == kind, "%s: %v; want a %s", what, err, kind)
}

// recorded counts the audit entries of a kind.
func recorded(t *testing.T, s store.Store, what string) (n int) {
	t.Helper()
	rows := must.Get(s.AuditRecords(t.Context(), 0, 1000))
	for _, r := range rows {
		if r.What == what {
			n++
		}
	}
	return n
}

// whole tests the store as a whole.
func whole(t *testing.T, open func(*testing.T) store.Store) {
	s := open(t)
	must.That(t, s.Owner(), "the only process does not own the store")
	if living, err := s.Living(t.Context()); err != nil || len(living) != 1 || living[0] != s.Opening() || s.Opening() == "" {
		t.Errorf("living are %q, %v; this opening is %q", living, err, s.Opening())
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range map[string]error{
		"setting": s.SetSetting(gone, "a", "1"),
		"user":    s.CreateUser(gone, user("1", "anna"), entry("x")),
		"read":    func() error { _, err := s.Users(gone); return err }(),
	} {
		expect.That(t, err != nil && errors.Is(err, context.Canceled), "%s with a context that is over: %v", what, err)
	}
	if _, err := s.User(t.Context(), "1"); fault.Of(err) != fault.NotFound {
		t.Errorf("a call that failed had an effect: %v", err)
	}
	if db, ok := s.(store.Database); ok && (db.Trouble() != nil || db.Writable() != nil) {
		t.Errorf("a caller who left is a trouble of the store: %+v", db.Condition())
	}
}
