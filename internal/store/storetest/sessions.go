package storetest

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"shardboard/internal/fault"
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
		must(t, s.CreateSession(ctx, want, "", entry("login.ok")))
		for what, find := range map[string]func() (store.Session, error){
			"id":   func() (store.Session, error) { return s.Session(ctx, "a") },
			"hash": func() (store.Session, error) { return s.SessionByHash(ctx, want.Hash) },
		} {
			if got, err := find(); err != nil || !cmp.Equal(got, want) {
				t.Errorf("by %s: %+v, %v", what, got, err)
			}
		}
		_, err := s.Session(ctx, "hash of a")
		wants(t, "a hash as id", err, fault.NotFound)
		_, err = s.SessionByHash(ctx, []byte("a"))
		wants(t, "an id as hash", err, fault.NotFound)
		if recorded(t, s, "login.ok") != 1 {
			t.Error("it is not recorded")
		}
	})
	t.Run("ReplaceAndNoteTheSignIn", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		must(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
		must(t, s.CreateSession(ctx, session("b", "user:1"), "a", entry("x")))
		_, err := s.Session(ctx, "a")
		wants(t, "the replaced one", err, fault.NotFound)
		if u, err := s.User(ctx, "1"); err != nil || !u.LastLogin.Equal(begin()) {
			t.Errorf("last sign-in %s, %v", u.LastLogin, err)
		}
	})
	t.Run("AreRotatedByOneOfMany", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		must(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
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
		rows, err := s.Sessions(ctx, "")
		must(t, err)
		if done.Load() != 1 || len(rows) != 1 || recorded(t, s, "rotated") != 1 {
			t.Fatalf("%d rotations, %d recorded, %d sessions", done.Load(), recorded(t, s, "rotated"), len(rows))
		}
		_, err = s.SessionByHash(ctx, []byte("hash of a"))
		wants(t, "the secret before", err, fault.NotFound)
		got, err := s.SessionByFormer(ctx, []byte("hash of a"))
		if err != nil || !cmp.Equal(got, rows[0]) || !got.Former.Equal(begin().Add(10*time.Second)) ||
			!got.Created.Equal(begin().Add(-time.Minute)) {
			t.Errorf("by the secret before: %+v, %v", got, err)
		}
		if u, err := s.User(ctx, "1"); err != nil || !u.LastLogin.Equal(begin()) {
			t.Errorf("a rotation is noted as a sign-in: %s, %v", u.LastLogin, err)
		}
		must(t, s.RotateSession(ctx, got.ID, session("f", "user:1"), entry("x")))
		_, err = s.SessionByFormer(ctx, []byte("hash of a"))
		wants(t, "a secret that is two rotations old", err, fault.NotFound)
		must(t, s.EndSession(ctx, "f", entry("x")))
		_, err = s.SessionByFormer(ctx, got.Hash)
		wants(t, "the secret before one that ended", err, fault.NotFound)
		_, err = s.SessionByFormer(ctx, nil)
		wants(t, "no secret", err, fault.NotFound)
	})
	t.Run("AreListedNewestFirst", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		for i, id := range []string{"a", "b", "c"} {
			row := session(id, "user:1")
			row.Created = begin().Add(time.Duration(i) * time.Second)
			must(t, s.CreateSession(ctx, row, "", entry("x")))
		}
		must(t, s.CreateSession(ctx, session("z", "user:2"), "", entry("x")))
		for subject, want := range map[string][]string{"user:1": {"c", "b", "a"}, "user:2": {"z"}, "user:3": nil, "": {"c", "b", "a", "z"}} {
			rows, err := s.Sessions(ctx, subject)
			must(t, err)
			var got []string
			for _, r := range rows {
				got = append(got, r.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %v, want %v", subject, got, want)
			}
		}
	})
	t.Run("AreTouchedAndEnded", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must(t, s.CreateSession(ctx, session("a", "user:1"), "", entry("x")))
		must(t, s.TouchSession(ctx, "a", begin().Add(time.Minute)))
		must(t, s.TouchSession(ctx, "nobody", begin()))
		if got, err := s.Session(ctx, "a"); err != nil || !got.Used.Equal(begin().Add(time.Minute)) {
			t.Errorf("used %s, %v", got.Used, err)
		}
		must(t, s.EndSession(ctx, "a", entry("logout")))
		wants(t, "once more", s.EndSession(ctx, "a", entry("logout")), fault.NotFound)
		if n := recorded(t, s, "logout"); n != 1 {
			t.Errorf("%d are recorded", n)
		}
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
			must(t, s.CreateSession(ctx, row, "", entry("x")))
		}
		ids, err := s.DropSessions(ctx, begin().Add(time.Hour), begin(), begin().Add(2*time.Hour))
		must(t, err)
		if slices.Sort(ids); !slices.Equal(ids, []string{"idle", "made ahead", "old", "used ahead"}) {
			t.Errorf("dropped %v", ids)
		}
		if rows, err := s.Sessions(ctx, ""); err != nil || len(rows) != 1 {
			t.Errorf("%d are left, %v", len(rows), err)
		}
	})
}
