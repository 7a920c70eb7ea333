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

func user(id, name string) store.User {
	return store.User{ID: id, Name: name, Role: "admin", Password: "$argon2id$…", Created: begin()}
}

func ptr[T any](v T) *T { return &v }

func users(t *testing.T, open func(*testing.T) store.Store) {
	t.Run("ComeBackAsTheyWere", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		ben, anna := user("2", "ben"), user("1", "anna")
		ben.Role, ben.Disabled = "viewer", true
		must.Do(t, s.CreateUser(ctx, ben, entry("user.created")))
		must.Do(t, s.CreateUser(ctx, anna, entry("user.created")))
		same(t, must.Get(s.Users(ctx)), []store.User{anna, ben})
		for what, find := range map[string]func() (store.User, error){
			"id":   func() (store.User, error) { return s.User(ctx, "1") },
			"name": func() (store.User, error) { return s.UserByName(ctx, "anna") },
		} {
			if got, err := find(); err != nil || !cmp.Equal(got, anna) {
				t.Errorf("by %s: %+v, %v", what, got, err)
			}
		}
		wants(t, "an id that nobody has", must.Err(s.User(ctx, "3")), fault.NotFound)
		wants(t, "a name that nobody has", must.Err(s.UserByName(ctx, "Anna")), fault.NotFound)
		expect.Equal(t, recorded(t, s, "user.created"), 2, "entries recorded")
	})
	t.Run("NamesAreUnique", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("user.created")))
		wants(t, "the same name", s.CreateUser(ctx, user("2", "anna"), entry("user.created")), fault.Conflict)
		expect.Equal(t, recorded(t, s, "user.created"), 1, "entries recorded: also what failed")
	})
	t.Run("OnlyOneIsForBreakGlass", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		glass := user("1", "glass")
		glass.BreakGlass = true
		must.Do(t, s.CreateUser(ctx, glass, entry("x")))
		glass.ID, glass.Name = "2", "other"
		wants(t, "a second one", s.CreateUser(ctx, glass, entry("x")), fault.Conflict)
		must.Do(t, s.CreateFirstUser(ctx, user("3", "anna"), entry("x"))) // the break-glass account does not count
	})
	t.Run("OnlyOneIsFirst", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		var made atomic.Int32
		var all sync.WaitGroup
		for _, id := range []string{"1", "2", "3", "4"} {
			all.Go(func() {
				switch err := s.CreateFirstUser(ctx, user(id, "first"+id), entry("x")); {
				case err == nil:
					made.Add(1)
				case fault.Of(err) != fault.Conflict:
					t.Error(err)
				}
			})
		}
		all.Wait()
		expect.That(t, made.Load() == 1, "%d became the first", made.Load())
	})
	t.Run("ChangesAreWholeAndRecorded", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		change := store.UserChange{Role: ptr("viewer"), Password: ptr("new"), Disabled: ptr(true)}
		must.Do(t, must.Err(s.ChangeUser(ctx, "1", change, entry("user.role"))))
		want := user("1", "anna")
		want.Role, want.Password, want.Disabled = "viewer", "new", true
		if got, err := s.User(ctx, "1"); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		wants(t, "nobody", must.Err(s.ChangeUser(ctx, "9", store.UserChange{Role: ptr("viewer")}, entry("user.role"))), fault.NotFound)
		expect.Equal(t, recorded(t, s, "user.role"), 1, "entries recorded")
	})
	t.Run("TheLastOfARoleStays", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		glass := user("9", "glass")
		glass.BreakGlass = true
		for _, u := range []store.User{user("1", "anna"), user("2", "ben"), glass} {
			must.Do(t, s.CreateUser(ctx, u, entry("x")))
		}
		must.Do(t, must.Err(s.ChangeUser(ctx, "1", store.UserChange{Disabled: ptr(true), Keep: "admin"}, entry("x"))))
		for what, c := range map[string]store.UserChange{"disable": {Disabled: ptr(true), Keep: "admin"},
			"demote": {Role: ptr("viewer"), Keep: "admin"}} {
			wants(t, what+" the last one", must.Err(s.ChangeUser(ctx, "2", c, entry("bad"))), fault.Conflict)
		}
		if got, _ := s.User(ctx, "2"); got.Disabled || got.Role != "admin" {
			t.Errorf("it was changed all the same: %+v", got)
		}
		expect.Equal(t, recorded(t, s, "bad"), 0, "refused changes recorded as done")
	})
	t.Run("ChangesMakeSessionsStale", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		must.Do(t, s.CreateUser(ctx, user("2", "ben"), entry("x")))
		for _, id := range []string{"a", "b"} {
			must.Do(t, s.CreateSession(ctx, session(id, "user:1"), "", entry("x")))
		}
		must.Do(t, s.CreateSession(ctx, session("c", "user:2"), "", entry("x")))
		last := store.UserChange{Role: ptr("viewer"), Keep: "nobody's", Rotate: "user:2"}
		wants(t, "a change that must not be", must.Err(s.ChangeUser(ctx, "2", last, entry("x"))), fault.Conflict)
		stale := must.Get(s.ChangeUser(ctx, "1", store.UserChange{Role: ptr("viewer"), Rotate: "user:1"}, entry("x")))
		if slices.Sort(stale); !slices.Equal(stale, []string{"a", "b"}) {
			t.Errorf("stale are %v", stale)
		}
		rows := must.Get(s.Sessions(ctx, ""))
		for _, row := range rows {
			expect.That(t, row.Stale == (row.Subject == "user:1"), "%s is stale: %v", row.ID, row.Stale)
		}
		expect.That(t, len(rows) == 3, "%d sessions are left", len(rows))
	})
	t.Run("ChangesEndSessions", func(t *testing.T) {
		ctx, s := t.Context(), open(t)
		must.Do(t, s.CreateUser(ctx, user("1", "anna"), entry("x")))
		for _, id := range []string{"a", "b", "c"} {
			must.Do(t, s.CreateSession(ctx, session(id, "user:1"), "", entry("x")))
		}
		must.Do(t, s.CreateSession(ctx, session("d", "user:2"), "", entry("x")))
		for id, owner := range map[string]string{"own": "user:1", "other": "user:2"} {
			must.Do(t, s.CreateToken(ctx, store.Token{ID: id, Hash: []byte(id), Owner: owner}, entry("x")))
		}
		next := session("next", "user:1")
		ended, err := s.ChangeUser(ctx, "1", store.UserChange{Password: ptr("new"), End: "user:1", Instead: &next, Revoke: "user:1",
			RevokeAt: begin()}, entry("x"))
		must.Do(t, err)
		if slices.Sort(ended); !slices.Equal(ended, []string{"a", "b", "c"}) {
			t.Errorf("ended %v", ended)
		}
		left := must.Get(s.Sessions(ctx, ""))
		if len(left) != 2 || !slices.ContainsFunc(left, func(s store.Session) bool { return s.ID == "next" }) {
			t.Errorf("%v are left", left)
		}
		for id, want := range map[string]time.Time{"own": begin(), "other": {}} {
			if got, err := s.Token(ctx, id); err != nil || !got.Revoked.Equal(want) {
				t.Errorf("token %s: revoked %v, %v", id, got.Revoked, err)
			}
		}
	})
}
