package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/refused"
	"shardboard/internal/store"
)

func TestReplicasMakeANewStoreAtOnce(t *testing.T) {
	c, at := server(t), database(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, err := Open(context.Background(), at, optionsOf(c))
			if err != nil {
				t.Error(err)
				return
			}
			expect.NoError(t, db.SetSetting(t.Context(), "a", "1"), "SetSetting")
			_ = db.Close()
		})
	}
	all.Wait()
}

func TestDatabaseOfAnotherProgramIsNotTouched(t *testing.T) {
	c := server(t)
	for _, collection := range []string{"things", meta} {
		at := database(t)
		other := open(t, c, address("other"+at.database))
		if _, err := other.client.Database(at.database).Collection(collection).InsertOne(t.Context(),
			eq("_id", "x", "application", "theirs")); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), at, optionsOf(c))
		refused.With(t, err, fault.Invalid, "holds something else", "%s", collection)
		names, err := other.client.Database(at.database).ListCollectionNames(t.Context(), eq())
		expect.That(t, err == nil && fmt.Sprint(names) == "["+collection+"]", "%v, %v", names, err)
	}
}

// last is a migration of a later version of this program.
func last(ctx context.Context, db *DB) error {
	_, err := db.collection("users").UpdateMany(ctx, eq(), set("team", "all"))
	return err
}

func later(o *Options) { o.migrations = append(slices.Clone(migrations), last) }

func TestStoreOfAnEarlierSchemaIsUpgraded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at := server(t), database(t)
		old := open(t, c, at)
		fill(t, old)
		must.Do(t, old.Close())
		db := open(t, c, at, later)
		if n, err := db.collection("users").CountDocuments(t.Context(), eq("team", "all")); err != nil || n != 2 {
			t.Errorf("%d users, %v", n, err)
		}
		expect.That(t, db.Leads(), "who upgraded does not lead")
		if u, err := db.UserByName(t.Context(), "anna"); err != nil || u.ID != "1" {
			t.Errorf("%+v, %v", u, err)
		}
		_, err := Open(t.Context(), at, optionsOf(c))
		refused.With(t, err, fault.Conflict, "newer shardboard", "an older program")
	})
}

func TestOlderLeaderMakesRoomForOneThatUpgrades(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at := server(t), database(t)
		old := open(t, c, at)
		db := open(t, c, at, later)
		expect.That(t, db.Leads() && !old.Leads(),
			"the newer one leads: %v, the older one: %v", db.Leads(), old.Leads())
		eventually(t, 5*time.Second, "the older one writes no more", func() bool { return old.Writable() != nil })
	})
}

// A newer server that ended before it had upgraded must not leave the store without a leader.
func TestOlderReplicaLeadsAgainWhenTheNewerOneIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at := server(t), database(t)
		old := open(t, c, at)
		if _, err := old.collection(replicas).UpdateOne(t.Context(), eq("_id", "newer"),
			bson.A{set("name", "newer", "schema", len(migrations)+1, "seen", "$$NOW")}, options.UpdateOne().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
		eventually(t, 5*time.Second, "the older one leaves the lead", func() bool { return !old.Leads() })
		time.Sleep(3 * time.Second)
		expect.That(t, !old.Leads(), "it took the lead back at once")
		eventually(t, 15*time.Second, "the older one leads again", old.Leads)
	})
}

func TestCommandOfALaterVersionDoesNotUpgradeUnderAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at := server(t), database(t)
		old := open(t, c, at)
		_, err := Open(t.Context(), at, optionsOf(c, later, func(o *Options) { o.Follow = true }))
		refused.With(t, err, fault.Conflict, "has to end", "the end")
		expect.That(t, old.Leads() && old.Writable() == nil, "the server does not lead any more")
	})
}

// An older program that only follows must not write into a newer schema.
func TestFollowerStopsWritingWhenTheSchemaIsNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, at := server(t), database(t)
		old := open(t, c, at, func(o *Options) { o.Follow = true })
		open(t, c, at, later)
		eventually(t, 5*time.Second, "it notices", func() bool { return old.Writable() != nil })
		refused.As(t, old.SetSetting(t.Context(), "a", "1"), fault.Conflict, "SetSetting")
		expect.Equal(t, old.Condition().Hold, store.OwnedByAnother, "%+v", old.Condition())
	})
}

func TestAddressShowsNoSecret(t *testing.T) {
	at, err := ParseAddress("mongodb://me:s3cr3t@h:1,i:2/board?authSource=admin&tlsCertificateKeyFilePassword=s3cr3t2")
	must.Do(t, err)
	text, _ := at.MarshalText()
	for _, shown := range []string{fmt.Sprintf("%v %+v %#v %s %q", at, at, at, at, at), at.LogValue().String(), string(text),
		fmt.Sprint(Options{}, &at)} {
		expect.That(t, !strings.Contains(shown, "s3cr3t") && !strings.Contains(shown, "me"), "it shows %s", shown)
	}
	expect.That(t, at.String() == "mongodb://h:1,i:2/board" && at.HoldsSecret(),
		"%s, holds a secret: %v", at, at.HoldsSecret())
	for text, want := range map[string]string{
		"mongodb://h:1/admin": "belongs to MongoDB", "mongodb://h:1/config": "belongs to MongoDB",
		"mongodb://h:1/local?x=y": "belongs to MongoDB",
		"mongodb:///x":            "no host", "http://h": "must begin", "mongodb://h:1/a.b": "name of a database",
		"mongodb://a@b:c@h/x": "percent-encoded",
	} {
		refused.With(t, must.Err(ParseAddress(text)), fault.Invalid, want, "%s", text)
	}
	if at, err := ParseAddress("mongodb://h:1"); err != nil || at.String() != "mongodb://h:1/shardboard" {
		t.Errorf("%s, %v", at, err)
	}
}
