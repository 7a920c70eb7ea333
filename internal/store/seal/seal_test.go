package seal

import (
	"crypto/ed25519"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/store/sqlite"
)

func keyOf(n byte) Key {
	return KeyOf(ed25519.NewKeyFromSeed(slices.Repeat([]byte{n}, ed25519.SeedSize)))
}

func sealed(t *testing.T, raw store.Store, key Key) (*Store, store.Store) {
	t.Helper()
	s, out, err := Open(t.Context(), raw, key, slog.New(slog.DiscardHandler))
	must.Do(t, err)
	return s, out
}

func signedIn(id string) store.Session {
	now := time.Now().UTC().Truncate(time.Millisecond)
	return store.Session{ID: id, Hash: []byte("hash of " + id), Subject: "user:anna", Name: "anna", Role: "viewer", Method: "password",
		From: "::1", Created: now, Used: now, Expires: now.Add(time.Hour)}
}

// stores are real stores, whose rows somebody else can write too.
func stores(t *testing.T, run func(t *testing.T, raw store.Store)) {
	t.Run("sqlite", func(t *testing.T) {
		db := must.Get(sqlite.Open(t.Context(), t.TempDir()))
		defer db.Close()
		run(t, db)
	})
	t.Run("mongodb", func(t *testing.T) {
		c := must.Get(simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true}))
		defer c.Close()
		at := must.Get(mongodb.ParseAddress(strings.Replace(simcluster.URI(), "/?", "/sealed?", 1)))
		db, err := mongodb.Open(t.Context(), at, mongodb.Options{Dialer: c})
		must.Do(t, err)
		defer db.Close()
		run(t, db)
	})
}

// A row counts as shardboard wrote it, and in no other form: each field that somebody changes makes it not count.
func TestRowsThatSomebodyElseWroteDoNotCount(t *testing.T) {
	stores(t, func(t *testing.T, raw store.Store) {
		ctx := t.Context()
		s, out := sealed(t, raw, keyOf(1))
		must.Do(t, out.CreateSession(ctx, signedIn("own"), "", store.AuditEntry{What: "x"}))
		own, err := out.Session(ctx, "own")
		must.Do(t, err)
		for what, change := range map[string]func(*store.Session){
			"no seal": func(r *store.Session) { r.Seal = nil }, "a copy": func(*store.Session) {}, // with another id
			"role":  func(r *store.Session) { r.ID, r.Role = "own", "admin" },
			"name":  func(r *store.Session) { r.ID, r.Subject, r.Name = "own", "user:annav", "iewer" },
			"end":   func(r *store.Session) { r.ID, r.Expires = "own", r.Expires.Add(time.Hour) },
			"group": func(r *store.Session) { r.ID, r.Groups = "own", []string{"dba"} },
		} {
			forged := own
			forged.ID, forged.Hash = "forged "+what, []byte("known "+what)
			if change(&forged); forged.ID == "own" { // whoever writes the store can replace the row
				forged.Hash = own.Hash
				must.Do(t, raw.EndSession(ctx, "own", store.AuditEntry{What: "x"}))
			}
			must.Do(t, raw.CreateSession(ctx, forged, "", store.AuditEntry{What: "x"}))
			refused.As(t, must.Err(out.Session(ctx, forged.ID)), fault.NotFound, "%s: found by its id", what)
			refused.As(t, must.Err(out.SessionByHash(ctx, forged.Hash)), fault.NotFound, "%s: found by its secret", what)
			must.Do(t, raw.EndSession(ctx, forged.ID, store.AuditEntry{What: "x"}))
			if forged.ID == "own" {
				must.Do(t, raw.CreateSession(ctx, own, "", store.AuditEntry{What: "x"}))
			}
		}
		if list, err := out.Sessions(ctx, ""); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		must.Do(t, out.TouchSession(ctx, "own", own.Used.Add(time.Minute)))
		next := signedIn("next")
		next.Former = next.Created.Add(time.Second)
		must.Do(t, out.RotateSession(ctx, "own", next, store.AuditEntry{What: "x"}))
		if got, err := out.SessionByFormer(ctx, own.Hash); err != nil || got.ID != "next" {
			t.Errorf("the session that replaced it: %+v, %v", got, err)
		}
		stolen, err := raw.Session(ctx, "next")
		must.Do(t, err)
		first := signedIn("first") // its secret is known to whoever writes the store
		must.Do(t, raw.CreateSession(ctx, first, "next", store.AuditEntry{What: "x"}))
		must.Do(t, raw.RotateSession(ctx, "first", stolen, store.AuditEntry{What: "x"}))
		refused.As(t, must.Err(out.SessionByFormer(ctx, first.Hash)), fault.NotFound, "by a secret that it never followed")
		if seen := s.Unsealed(); len(seen) != 4 { // forged ones of two ids, the own one, the next one
			t.Errorf("%+v", seen)
		}
		if n := recordedOf(t, raw, AuditUnsealed); n != 4 {
			t.Errorf("recorded %d times", n)
		}
	})
}

func recordedOf(t *testing.T, s store.Store, what string) (n int) {
	t.Helper()
	rows, err := s.AuditRecords(t.Context(), 0, 1000)
	must.Do(t, err)
	for _, r := range rows {
		if r.What == what {
			n++
		}
	}
	return n
}

func TestApprovalsThatSomebodyElseWroteDoNotCount(t *testing.T) {
	stores(t, func(t *testing.T, raw store.Store) {
		ctx := t.Context()
		_, out := sealed(t, raw, keyOf(1))
		now := time.Now().UTC().Truncate(time.Millisecond)
		record := func(plan, state string) store.ApprovalRecord {
			return store.ApprovalRecord{Plan: plan, Cluster: "c", State: state, Until: now.Add(time.Hour), Body: []byte(`{"By":"bert"}`)}
		}
		for _, id := range []string{"own", "asked", "forged", "copied"} {
			must.Do(t, raw.SavePlan(ctx, store.PlanRecord{ID: id, Cluster: "c", By: "user:1", Kind: "split", Hash: "h", Made: now,
				Expires: now.Add(time.Hour), Body: []byte("{}")}))
		}
		must.Do(t, out.AddApproval(ctx, record("asked", store.ApprovalAsked)))
		must.Do(t, out.SaveApproval(ctx, record("own", store.ApprovalGiven)))
		own, err := out.Approval(ctx, "own")
		must.Do(t, err)
		copied := own
		copied.Plan = "copied"
		must.Do(t, raw.SaveApproval(ctx, copied))
		must.Do(t, raw.SaveApproval(ctx, record("forged", store.ApprovalAsked)))
		for _, plan := range []string{"forged", "copied"} {
			refused.As(t, must.Err(out.Approval(ctx, plan)), fault.NotFound, "%s", plan)
		}
		if list, err := out.ApprovalsAsked(ctx, "c", now, 10); err != nil || len(list) != 1 || list[0].Plan != "asked" {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// The first start with a key ends what is there, once; the next one with the same key ends nothing.
func TestANewKeyEndsSessionsAndApprovalsOnce(t *testing.T) {
	stores(t, func(t *testing.T, raw store.Store) {
		ctx := t.Context()
		must.Do(t, raw.CreateSession(ctx, signedIn("old"), "", store.AuditEntry{What: "x"}))
		ended := 0
		for i, key := range []byte{1, 1, 2} {
			s, out := sealed(t, raw, keyOf(key))
			ended = recordedOf(t, raw, AuditKeyChanged)
			if list, err := out.Sessions(ctx, ""); err != nil || len(list) != map[bool]int{true: 1}[i == 1] || len(s.Unsealed()) != 0 {
				t.Errorf("start %d: %v, %v, unsealed %v", i+1, list, err, s.Unsealed())
			}
			if i == 0 {
				must.Do(t, out.CreateSession(ctx, signedIn("new"), "", store.AuditEntry{What: "x"}))
			}
		}
		expect.That(t, ended == 2, "recorded %d times", ended)
	})
}

// A request that no replica wrote is taken by nobody.
func TestRequestsThatSomebodyElseWroteAreNotDone(t *testing.T) {
	stores(t, func(t *testing.T, raw store.Store) {
		_, out := sealed(t, raw, keyOf(1))
		asks, shared := out.(store.Requests)
		if _, can := raw.(store.Requests); can != shared {
			t.Fatalf("the store passes requests: %v; sealed: %v", can, shared)
		}
		if !shared {
			return
		}
		ctx := t.Context()
		request := func(id string) store.Request {
			return store.Request{ID: id, Cluster: "c", What: "run.start", By: []byte("anna"), Body: []byte("{}"), Made: time.Now(),
				Within: time.Minute}
		}
		must.Do(t, raw.ConfirmLead(ctx))
		must.Do(t, raw.(store.Requests).AddRequest(ctx, request("forged")))
		must.Do(t, asks.AddRequest(ctx, request("own")))
		if got, err := asks.TakeRequest(ctx, "c"); err != nil || got.ID != "own" {
			t.Errorf("%+v, %v", got, err)
		}
		if got, err := asks.TakeRequest(ctx, "c"); fault.Of(err) != fault.NotFound {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
