package simcluster

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// A read that mongos gave up while a shard was frozen opens its cursor when the shard goes on. It holds what leaves
// the shard from then on, until its session is killed or ten minutes have passed.
func TestCursorOfAReadThatWasGivenUpHoldsWhatLeavesItsShardLater(t *testing.T) {
	var l lateCursors
	now := time.Now()
	body := func(session string) bson.Raw {
		return encode(bson.D{{Key: "find", Value: "changes"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: session}}}})
	}
	for _, session := range []string{"a", "b"} {
		l.giveUp("s1", &engine.Request{DB: "db", Name: "find", Body: body(session)})
	}
	l.giveUp("s1", &engine.Request{DB: "db", Name: "count", Body: body("c")})
	session := func(name string) string { return string(encode(bson.D{{Key: "id", Value: name}}).Lookup("id").Value) }
	if l.closeSession(session("a")); l.hold("db.changes", "s1", now.Add(time.Hour), now) {
		t.Error("the cursors stand while the shard is frozen")
	}
	l.thaw("s1", now)
	if got := len(l.opened(now)); got != 2 {
		t.Fatalf("%d cursors, want 2: a session that is killed while the shard is frozen gets its cursor all the same", got)
	}
	for _, c := range []struct {
		ns, shard string
		left      time.Time
		want      bool
	}{
		{"db.changes", "s1", now.Add(time.Second), true}, {"db.changes", "s1", now.Add(-time.Second), false},
		{"db.changes", "s2", now.Add(time.Second), false}, {"db.other", "s1", now.Add(time.Second), false},
	} {
		if got := l.hold(c.ns, c.shard, c.left, now); got != c.want {
			t.Errorf("%s on %s: held %v", c.ns, c.shard, got)
		}
	}
	l.closeSession(session("a"))
	if left := l.opened(now); len(left) != 1 || !strings.Contains(left[0].lsid.String(), "b") {
		t.Errorf("after killing a session: %v", left)
	}
	if late := now.Add(cursorLife + time.Second); l.hold("db.changes", "s1", late, late) {
		t.Error("it holds after cursorTimeoutMillis")
	}
}
