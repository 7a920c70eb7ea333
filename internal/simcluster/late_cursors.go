package simcluster

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// shardCursor is an idle cursor on a shard. The range deleter waits for those of a collection that were opened before
// the range left.
type shardCursor struct {
	id      int64
	shard   string
	shards  []string // of a cursor of mongos: where it stands; all that the query needs, until it is exhausted
	ns      string
	lsid    bson.Raw // {id: UUID, uid: BinData}
	command bson.Raw // with $client
	opened  time.Time
	idle    time.Duration
	keep    bool // noCursorTimeout
}

// shardCursorOf is what a command opens on shards.
func (c *Cluster) shardCursorOf(r *engine.Request, ns string, opened time.Time) shardCursor {
	k := shardCursor{ns: ns, opened: opened, command: r.Body}
	if lsid, ok := r.Lookup("lsid").DocumentOK(); ok {
		k.lsid = encode(bson.D{{Key: "id", Value: lsid.Lookup("id")}, {Key: "uid", Value: []byte(userDigest(c.ownerOf(r)))}})
	}
	if r.Conn != nil { // as mongos passes it on
		router := bson.D{{Key: "host", Value: c.address(configShard)}, {Key: "client", Value: r.Conn.Remote}}
		client := bson.D{{Key: "application", Value: bson.D{{Key: "name", Value: r.Conn.App}}}, {Key: "mongos", Value: router}}
		fields, err := r.Body.Elements()
		if err != nil {
			return k
		}
		d := bson.D{}
		for _, f := range fields {
			d = append(d, bson.E{Key: f.Key(), Value: f.Value()})
		}
		k.command = encode(append(d, bson.E{Key: "$client", Value: client}))
	}
	return k
}

// userDigest is the uid of a user's sessions.
func userDigest(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return string(sum[:])
}

// holds reports whether the cursor keeps a shard from deleting a range that left then.
func (k shardCursor) holds(ns, shard string, left time.Time) bool {
	return k.ns == ns && k.shard == shard && !k.opened.After(left)
}

// lateCursor is a cursor that nobody reads: the shard was frozen when the command came, mongos gave up, and the shard
// carried it out when it went on (seen on 8.0.10 and 5.0.7, there for some of such reads, here for all). It stands
// until its session is killed or cursorTimeoutMillis have passed.
type lateCursor struct {
	shardCursor // opened is zero while its shard is frozen
}

// lateCursors are those of all shards.
type lateCursors struct {
	mu   sync.Mutex
	list []*lateCursor
	next int64
}

// giveUp remembers a command that reached a frozen shard and opens a cursor there.
func (c *Cluster) giveUp(shard string, r *engine.Request) {
	if r.Name != "find" && r.Name != "aggregate" {
		return
	}
	ns := r.DB + ".$cmd.aggregate"
	if coll, ok := r.Lookup(r.Name).StringValueOK(); ok {
		ns = r.DB + "." + coll
	}
	k := &lateCursor{c.shardCursorOf(r, ns, time.Time{})}
	k.shard = shard
	c.late.add(k)
}

func (l *lateCursors) add(k *lateCursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next++; len(l.list) < maxOpenCursors {
		k.id = l.next
		l.list = append(l.list, k)
	}
}

// thaw opens the cursors of a shard that goes on.
func (l *lateCursors) thaw(shard string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.list {
		if k.shard == shard && k.opened.IsZero() {
			k.opened = now
		}
	}
}

// closeSession closes the cursors of a user's session. Of a shard that is frozen they are opened all the same.
func (l *lateCursors) closeSession(id, user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(k *lateCursor) bool {
		_, uid, _ := k.lsid.Lookup("uid").BinaryOK()
		return !k.opened.IsZero() && string(k.lsid.Lookup("id").Value) == id && string(uid) == user
	})
}

// opened are the cursors that stand on shards.
func (l *lateCursors) opened(now time.Time) (out []shardCursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(k *lateCursor) bool { return !k.opened.IsZero() && now.Sub(k.opened) > cursorLife })
	for _, k := range l.list {
		if !k.opened.IsZero() {
			one := k.shardCursor
			one.idle = now.Sub(k.opened)
			out = append(out, one)
		}
	}
	return out
}

// standing are all idle cursors on shards, oldest first.
func (c *Cluster) standing(now time.Time) []shardCursor {
	all := append(c.late.opened(now), c.cursors.standing()...)
	slices.SortFunc(all, func(a, b shardCursor) int {
		return cmp.Or(a.opened.Compare(b.opened), cmp.Compare(a.id, b.id), cmp.Compare(a.shard, b.shard))
	})
	return all
}

// idleCursors are the rows of $currentOp with idleCursors for them.
func (c *Cluster) idleCursors(now time.Time) (rows []bson.Raw) {
	for _, k := range c.standing(now) {
		rows = append(rows, encode(bson.D{
			{Key: "shard", Value: k.shard}, {Key: "type", Value: "idleCursor"}, {Key: "host", Value: c.address(k.shard)},
			{Key: "ns", Value: k.ns}, {Key: "lsid", Value: k.lsid},
			{Key: "cursor", Value: bson.D{
				{Key: "cursorId", Value: k.id}, {Key: "createdDate", Value: k.opened}, {Key: "lastAccessDate", Value: now.Add(-k.idle)},
				{Key: "nDocsReturned", Value: int64(0)}, {Key: "nBatchesReturned", Value: int64(0)}, {Key: "noCursorTimeout", Value: k.keep},
				{Key: "tailable", Value: false}, {Key: "awaitData", Value: false},
				{Key: "originatingCommand", Value: k.command}, {Key: "operationUsingCursorId", Value: nil}}},
		}))
	}
	return rows
}
