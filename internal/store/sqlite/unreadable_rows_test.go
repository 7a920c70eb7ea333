package sqlite

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// A file that was restored or changed by another program can have a row with values of
// the wrong types. Lists omit such a row and the store reports it.
func TestUnreadableRowsAreSkippedCountedAndLoggedOnce(t *testing.T) {
	dir, path := filledDatabase(t)
	db := open(t, dir)
	ctx, at := t.Context(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"anna", "berta", "carla"} {
		e := store.AuditEntry{At: at, What: "test"}
		must.Do(t, db.CreateUser(ctx, store.User{ID: name, Name: name, Role: "viewer", Created: at}, e))
		must.Do(t, db.CreateToken(ctx, store.Token{ID: name, Hash: []byte(name), Owner: "user:" + name, Created: at}, e))
		must.Do(t, db.AddSilence(ctx, "c", store.Silence{ID: name, Rule: "jumbo", At: at, Until: at.Add(time.Hour)}, e))
	}
	must.Do(t, db.Close())
	loose := `UPDATE sqlite_schema SET sql = replace(replace(sql, ' STRICT, WITHOUT ROWID', ' WITHOUT ROWID'), ' STRICT', '')`
	runSQL(t, path+"?_pragma=writable_schema(1)", loose)
	runSQL(t, path, `UPDATE users SET created = 'yesterday' WHERE id = 'berta'`,
		`UPDATE tokens SET expires = x'ff' WHERE id = 'berta'`, `UPDATE silences SET at = 'noon' WHERE id = 'berta'`)
	db = open(t, dir)
	for range 3 {
		users, err := db.Users(ctx)
		if err != nil || len(users) != 2 || users[0].Name != "anna" || users[1].Name != "carla" {
			t.Fatal(users, err)
		}
		if tokens, err := db.Tokens(ctx, ""); err != nil || len(tokens) != 2 {
			t.Fatal(tokens, err)
		}
		if silences, err := db.Silences(ctx, "c", at); err != nil || len(silences) != 2 {
			t.Fatal(silences, err)
		}
	}
	want := []store.UnreadableRows{{Table: "silences", Rows: 1}, {Table: "tokens", Rows: 1}, {Table: "users", Rows: 1}}
	got := db.Unreadable()
	must.That(t, len(got) == len(want), "unexpected rows: %+v", got)
	for i := range want {
		expect.That(t, got[i] == want[i], "%+v, want %+v", got[i], want[i])
	}
	if now := db.Trouble(); now != nil {
		t.Errorf("one unreadable row is reported as trouble of the whole file: %+v", now)
	}
}
