package storetest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

func session(id, subject string) store.Session {
	return store.Session{ID: id, Hash: []byte("hash of " + id), Subject: subject, Name: "Anna", Role: "viewer",
		Method: "password", From: "::1", Created: begin(), Used: begin(), Expires: begin().Add(time.Hour)}
}

func sessions(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("AreFoundByIDAndBySecret", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		want := session("a", "user:1")
		must.Do(t, s.CreateSession(ctx, want, "", entry("login.ok")))
		for what, find := range map[string]func() (store.Session, error){
			"id":   func() (store.Session, error) { return s.Session(ctx, "a") },
			"hash": func() (store.Session, error) { return s.SessionByHash(ctx, want.Hash) },
		} {
			if got, err := find(); err != nil || !cmp.Equal(got, want) {
				t.Errorf("by %s: %+v, %v", what, got, err)
			}
		}
		wants(t, "a hash as id", must.Err(s.Session(ctx, "hash of a")), fault.NotFound)
		wants(t, "an id as hash", must.Err(s.SessionByHash(ctx, []byte("a"))), fault.NotFound)
		expect.That(t, recorded(t, s, "login.ok") == 1, "it is not recorded")
	})
	t.Run("ReplaceAndNoteTheSignIn", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		must.Do(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
		must.Do(t, s.CreateSession(ctx, session("b", "user:1"), "a", entry("x")))
		wants(t, "the replaced one", must.Err(s.Session(ctx, "a")), fault.NotFound)
		if u, err := s.User(ctx, "1"); err != nil || !u.LastLogin.Equal(begin()) {
			t.Errorf("last sign-in %s, %v", u.LastLogin, err)
		}
	})
	t.Run("AreRotatedByOneOfMany", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		must.Do(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
		var done atomic.Int32
		var all sync.WaitGroup
		for _, id := range []string{"b", "c", "d", "e"} {
			all.Go(func() {
				next := session(id, "user:1")
				next.Former, next.Created = begin().Add(10*time.Second), begin().Add(-time.Minute)
				switch err := s.RotateSession(ctx, "a", next, entry("rotated")); {
				case err == nil:
					done.Add(1)
				case fault.Of(err) != fault.NotFound:
					t.Error(err)
				}
			})
		}
		all.Wait()
		rows := must.Get(s.Sessions(ctx, ""))
		must.That(t, done.Load() == 1 && len(rows) == 1 && recorded(t, s, "rotated") == 1,
			"%d rotations, %d recorded, %d sessions", done.Load(), recorded(t, s, "rotated"), len(rows))
		wants(t, "the secret before", must.Err(s.SessionByHash(ctx, []byte("hash of a"))), fault.NotFound)
		got, err := s.SessionByFormer(ctx, []byte("hash of a"))
		if err != nil || !cmp.Equal(got, rows[0]) || !got.Former.Equal(begin().Add(10*time.Second)) ||
			!got.Created.Equal(begin().Add(-time.Minute)) {
			t.Errorf("by the secret before: %+v, %v", got, err)
		}
		if u, err := s.User(ctx, "1"); err != nil || !u.LastLogin.Equal(begin()) {
			t.Errorf("a rotation is noted as a sign-in: %s, %v", u.LastLogin, err)
		}
		must.Do(t, s.RotateSession(ctx, got.ID, session("f", "user:1"), entry("x")))
		wants(t, "a secret that is two rotations old", must.Err(s.SessionByFormer(ctx, []byte("hash of a"))), fault.NotFound)
		must.Do(t, s.EndSession(ctx, "f", entry("x")))
		wants(t, "the secret before one that ended", must.Err(s.SessionByFormer(ctx, got.Hash)), fault.NotFound)
		wants(t, "no secret", must.Err(s.SessionByFormer(ctx, nil)), fault.NotFound)
	})
	t.Run("AreListedNewestFirst", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		for i, id := range []string{"a", "b", "c"} {
			row := session(id, "user:1")
			row.Created = begin().Add(time.Duration(i) * time.Second)
			must.Do(t, s.CreateSession(ctx, row, "", entry("x")))
		}
		must.Do(t, s.CreateSession(ctx, session("z", "user:2"), "", entry("x")))
		for subject, want := range map[string][]string{"user:1": {"c", "b", "a"}, "user:2": {"z"}, "user:3": nil, "": {"c", "b", "a", "z"}} {
			rows := must.Get(s.Sessions(ctx, subject))
			var got []string
			for _, r := range rows {
				got = append(got, r.ID)
			}
			expect.That(t, slices.Equal(got, want), "%q: %v, want %v", subject, got, want)
		}
	})
	t.Run("AreTouchedAndEnded", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
		must.Do(t, s.TouchSession(ctx, "a", begin().Add(time.Minute)))
		must.Do(t, s.TouchSession(ctx, "nobody", begin()))
		if got, err := s.Session(ctx, "a"); err != nil || !got.Used.Equal(begin().Add(time.Minute)) {
			t.Errorf("used %s, %v", got.Used, err)
		}
		must.Do(t, s.EndSession(ctx, "a", entry("logout")))
		wants(t, "once more", s.EndSession(ctx, "a", entry("logout")), fault.NotFound)
		expect.Equal(t, recorded(t, s, "logout"), 1, "entries recorded")
	})
	t.Run("AreDroppedWhenTheyEndedByThemselves", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		old, idle, live := session("old", "user:1"), session("idle", "user:1"), session("live", "user:1")
		old.Used, live.Used = begin().Add(time.Hour), begin().Add(time.Hour)
		idle.Expires, live.Expires = begin().Add(24*time.Hour), begin().Add(24*time.Hour)
		made, used := session("made ahead", "user:1"), session("used ahead", "user:1")
		for _, row := range []*store.Session{&made, &used} {
			row.Used, row.Expires = begin().Add(time.Hour), begin().Add(24*time.Hour)
		}
		made.Created, used.Used = begin().Add(3*time.Hour), begin().Add(3*time.Hour)
		for _, row := range []store.Session{old, idle, live, made, used} {
			must.Do(t, s.CreateSession(ctx, row, "", entry("x")))
		}
		ids := must.Get(s.DropSessions(ctx, begin().Add(time.Hour), begin(), begin().Add(2*time.Hour)))
		if slices.Sort(ids); !slices.Equal(ids, []string{"idle", "made ahead", "old", "used ahead"}) {
			t.Errorf("dropped %v", ids)
		}
		if rows, err := s.Sessions(ctx, ""); err != nil || len(rows) != 1 {
			t.Errorf("%d are left, %v", len(rows), err)
		}
	})
}
