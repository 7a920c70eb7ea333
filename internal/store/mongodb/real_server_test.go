package mongodb

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
	"shardboard/internal/store/storetest"
)

// The suite over a real replica set or sharded cluster: SHARDBOARD_TEST_STORE_URI is an address whose
// path is the beginning of the names of the databases, which are dropped afterwards.
func TestRealServerConformsToStore(t *testing.T) {
	uri := os.Getenv("SHARDBOARD_TEST_STORE_URI")
	if uri == "" {
		t.Skip("SHARDBOARD_TEST_STORE_URI is not set")
	}
	first := must.Get(ParseAddress(uri))
	fresh := func(t *testing.T) Address {
		name := fmt.Sprintf("%s_%d_%d", first.database, time.Now().UnixNano(), databases.Add(1))
		at, err := ParseAddress(strings.Replace(uri, "/"+first.database, "/"+name, 1))
		must.That(t, err == nil && at.database == name, "the address needs a database in its path: %v", err)
		return at
	}
	openAt := func(t *testing.T, at Address) *DB {
		db, err := Open(t.Context(), at, Options{partSize: 1000})
		must.Do(t, err)
		t.Cleanup(func() {
			_ = db.data.Drop(context.Background())
			_ = db.Close()
		})
		return db
	}
	storetest.Run(t, func(t *testing.T) store.Store { return openAt(t, fresh(t)) })
	storetest.RunInPlace(t, func(t *testing.T) storetest.Place {
		at := fresh(t)
		return storetest.Place{Open: func(t *testing.T) store.Store { return openAt(t, at) }}
	})
	t.Run("AKilledReplicaDoesNotHoldUpTheOthers", func(t *testing.T) {
		at, p := fresh(t), &paused{}
		o := Options{Lease: 3 * time.Second, Timeout: 30 * time.Second}
		p.options(&o)
		killed, err := Open(t.Context(), at, o)
		must.Do(t, err)
		defer func() { p.resume(); _ = killed.Close() }()
		follower := openAt(t, at)
		p.pause()
		_ = killed.change(t.Context(), func(ctx context.Context) error {
			if _, err := (transaction{killed}).Append(ctx, store.AuditEntry{At: time.Now(), What: "left.open"}); err != nil {
				return err
			}
			eventually(t, 15*time.Second, "the other replica appends", func() bool {
				_, err := follower.Append(context.Background(), store.AuditEntry{At: time.Now(), What: "login.ok"})
				return err == nil
			})
			return context.Canceled
		})
	})
}
