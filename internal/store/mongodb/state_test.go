package mongodb

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/store/archive"
)

// network is a dialer that can be cut.
type network struct {
	to *simcluster.Cluster

	mu   sync.Mutex
	down bool
	open []net.Conn
}

func (n *network) DialContext(ctx context.Context, kind, address string) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	c, err := n.to.DialContext(ctx, kind, address)
	n.open = append(n.open, c)
	return c, err
}

func (n *network) cut(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	if down {
		for _, c := range n.open {
			_ = c.Close()
		}
		n.open = nil
	}
}

func TestStoreThatCannotBeReachedSaysSoAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := server(t)
		n := &network{to: c}
		db := open(t, c, database(t), func(o *Options) { o.Dialer = n })
		if err := db.SetSetting(t.Context(), "a", "1"); err != nil || db.Writable() != nil || db.Condition().Hold != store.Owned {
			t.Fatal(err, db.Condition())
		}
		n.cut(true)
		for what, call := range map[string]func() error{
			"a write": func() error { return db.SetSetting(t.Context(), "a", "2") },
			"a read":  func() error { _, err := db.Setting(t.Context(), "a"); return err },
		} {
			begin := time.Now()
			err := call()
			trouble, known := store.TroubleOf(err)
			if fault.Of(err) != fault.Unavailable || !known || trouble.Code != store.TroubleUnreachable || time.Since(begin) > 6*time.Second {
				t.Errorf("%s: %v after %s", what, err, time.Since(begin))
			}
		}
		now := db.Condition()
		if now.Hold != store.Unreachable || !now.Lost() || fault.Of(db.Writable()) != fault.Unavailable || db.Trouble() == nil {
			t.Errorf("%+v", now)
		}
		time.Sleep(10 * time.Second)
		expect.That(t, !db.Leads(), "it leads without its store")
		begin := time.Now()
		if _, err := db.Users(t.Context()); fault.Of(err) != fault.Unavailable || time.Since(begin) > 100*time.Millisecond {
			t.Errorf("a page waits for it each time: %v after %s", err, time.Since(begin))
		}
		n.cut(false)
		// The condition is that of the last call that told, and one that began before may still fail after the lead is back.
		eventually(t, 15*time.Second, "it leads again, and its condition says so", func() bool {
			now := db.Condition()
			return db.Leads() && now.Hold == store.Owned && now.Err == nil && db.Trouble() == nil
		})
		if v, err := db.Setting(t.Context(), "a"); err != nil || v != "1" {
			t.Errorf("%q, %v", v, err)
		}
	})
}

func TestServersThatCannotBeAStoreAreRefused(t *testing.T) {
	for want, hello := range map[string]bson.D{
		"":              {{Key: "msg", Value: "isdbgrid"}},
		"standalone":    {{Key: "isWritablePrimary", Value: true}},
		"config server": {{Key: "isWritablePrimary", Value: true}, {Key: "setName", Value: "cfg"}, {Key: "configsvr", Value: int32(2)}},
		"before 4.4":    {{Key: "msg", Value: "isdbgrid"}, {Key: "maxWireVersion", Value: int32(8)}},
		"not the primary": {
			{Key: "isWritablePrimary", Value: false}, {Key: "secondary", Value: true}, {Key: "setName", Value: "rs"},
		},
	} {
		raw := must.Get(bson.Marshal(hello))
		err := checkHello(raw, "h:1")
		if want == "" && err != nil || want != "" && (fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), want)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	member, _ := bson.Marshal(bson.D{{Key: "isWritablePrimary", Value: true}, {Key: "setName", Value: "rs"}})
	expect.NoError(t, checkHello(member, "h:1"), "a replica set")
}

func TestUnreadableDocumentsAreLeftOutAndCounted(t *testing.T) {
	db := open(t, server(t), database(t))
	must.Do(t, db.CreateUser(t.Context(), store.User{ID: "1", Name: "anna"}, store.AuditEntry{What: "x"}))
	must.Do(t, must.Err(db.collection("users").InsertOne(t.Context(), eq("_id", "2", "name", 7))))
	for range 2 {
		if got, err := db.Users(t.Context()); err != nil || len(got) != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got := db.Unreadable(); len(got) != 1 || got[0] != (store.UnreadableRows{Table: "users", Rows: 1}) {
		t.Errorf("%v", got)
	}
	// Without one of its entries a past state would be another.
	if _, err := db.collection("history").InsertOne(t.Context(), eq("_id", 1, "cluster", "c", "stream", "s", "at", time.Now().Add(-time.Hour),
		"whole", true, "body", "text")); err != nil {
		t.Fatal(err)
	}
	if got, err := db.HistoryOf(t.Context(), "c", "s", time.Now()); fault.Of(err) != fault.Unavailable {
		t.Errorf("%v, %v", got, err)
	}
}

// A document from before a later version added a field is listed, and copied.
func TestFieldThatADocumentDoesNotHaveIsZero(t *testing.T) {
	db := open(t, server(t), database(t))
	must.Do(t, must.Err(db.collection("users").InsertOne(t.Context(), eq("_id", "1", "name", "anna"))))
	if got, err := db.Users(t.Context()); err != nil || len(got) != 1 || got[0] != (store.User{ID: "1", Name: "anna"}) {
		t.Errorf("%v, %v", got, err)
	}
	to := directory(t)
	must.Do(t, must.Err(archive.Copy(t.Context(), db, to)))
	if got, err := to.Users(t.Context()); err != nil || len(got) != 1 || got[0].Name != "anna" {
		t.Errorf("copied: %v, %v", got, err)
	}
}
