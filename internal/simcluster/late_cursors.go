package simcluster

import (
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// lateCursor is a cursor on a shard that nobody reads: the shard was frozen when the command came, mongos gave up,
// and the shard carried it out when it went on (seen on 8.0.10 and 5.0.7, there for some of such reads, here for
// all). It stands until its session is killed or cursorTimeoutMillis have passed. The range deleter waits for those
// of a collection that were opened before the range left.
type lateCursor struct {
	id        int64
	shard, ns string
	lsid      bson.Raw // {id: UUID}
	app       string
	command   bson.Raw
	opened    time.Time // by the cluster's clock; zero while its shard is frozen
}

// lateCursors are those of all shards.
type lateCursors struct {
	mu   sync.Mutex
	list []*lateCursor
	next int64
}

// giveUp remembers a command that reached a frozen shard and opens a cursor there.
func (l *lateCursors) giveUp(shard string, r *engine.Request) {
	if r.Name != "find" && r.Name != "aggregate" {
		return
	}
	k := &lateCursor{shard: shard, ns: r.DB + ".$cmd.aggregate", command: r.Body}
	if coll, ok := r.Lookup(r.Name).StringValueOK(); ok {
		k.ns = r.DB + "." + coll
	}
	k.lsid, _ = r.Lookup("lsid").DocumentOK()
	if r.Conn != nil {
		k.app = r.Conn.App
	}
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

// closeSession closes the cursors of a session. Of a shard that is frozen they are opened all the same.
func (l *lateCursors) closeSession(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(k *lateCursor) bool {
		return !k.opened.IsZero() && string(k.lsid.Lookup("id").Value) == id
	})
}

// opened are the cursors that stand on shards.
func (l *lateCursors) opened(now time.Time) (out []lateCursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(k *lateCursor) bool { return !k.opened.IsZero() && now.Sub(k.opened) > cursorLife })
	for _, k := range l.list {
		if !k.opened.IsZero() {
			out = append(out, *k)
		}
	}
	return out
}

// hold reports whether a cursor keeps a shard from deleting a range that left then.
func (l *lateCursors) hold(ns, shard string, left, now time.Time) bool {
	return slices.ContainsFunc(l.opened(now), func(k lateCursor) bool {
		return k.ns == ns && k.shard == shard && !k.opened.After(left)
	})
}

// idleCursors are the rows of $currentOp with idleCursors for them.
func (c *Cluster) idleCursors(now time.Time) (rows []bson.Raw) {
	for _, k := range c.late.opened(now) {
		rows = append(rows, encode(bson.D{
			{Key: "shard", Value: k.shard}, {Key: "type", Value: "idleCursor"}, {Key: "host", Value: c.address(k.shard)},
			{Key: "ns", Value: k.ns}, {Key: "lsid", Value: k.lsid}, {Key: "appName", Value: k.app},
			{Key: "cursor", Value: bson.D{
				{Key: "cursorId", Value: k.id}, {Key: "createdDate", Value: k.opened}, {Key: "lastAccessDate", Value: k.opened},
				{Key: "nDocsReturned", Value: int64(0)}, {Key: "nBatchesReturned", Value: int64(0)}, {Key: "noCursorTimeout", Value: false},
				{Key: "tailable", Value: false}, {Key: "awaitData", Value: false},
				{Key: "originatingCommand", Value: k.command}, {Key: "operationUsingCursorId", Value: nil}}},
		}))
	}
	return rows
}
