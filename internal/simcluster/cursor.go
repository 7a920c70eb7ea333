package simcluster

import (
	"cmp"
	"crypto/sha256"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

const (
	firstBatch     = 101              // documents of a first batch without batchSize
	maxBatchBytes  = 16 << 20         // a batch ends before it is larger
	cursorLife     = 10 * time.Minute // cursorTimeoutMillis
	maxOpenCursors = 10_000           // beyond it the longest unused are closed
)

// cursor holds the results of a query that the client has not read yet. Documents are
// immutable, so a cursor is a list of references, and later writes or migrations do not
// change it.
type cursor struct {
	id      int64
	ns      string
	session string
	owner   string // the only user who may read it; empty without access control
	docs    []bson.Raw
	made    func() (bson.Raw, bool)          // makes further documents; nil: docs are all
	project func(bson.Raw) (bson.Raw, error) // nil: as they are
	keep    bool                             // noCursorTimeout
	used    time.Time
	tail    *tail // of a tailable cursor

	on *shardCursor // what stands on the shards for it; nil: nothing, as of a collection of the config server
}

// batch removes and returns the next documents: at most n, none when n is 0, as many as
// fit into a batch when n is negative.
func (k *cursor) batch(n int64) ([]bson.Raw, error) {
	var out []bson.Raw
	for size := 0; (n < 0 || int64(len(out)) < n) && k.more(); {
		doc := k.docs[0]
		if k.project != nil {
			var err error
			if doc, err = k.project(doc); err != nil {
				return nil, err
			}
		}
		if size += len(doc) + 8; size > maxBatchBytes && len(out) > 0 {
			break
		}
		out = append(out, doc)
		k.docs = k.docs[1:]
	}
	return out, nil
}

// more reports whether there are documents left.
func (k *cursor) more() bool {
	if len(k.docs) == 0 && k.made != nil {
		if doc, ok := k.made(); ok {
			k.docs = append(k.docs[:0:0], doc)
		} else {
			k.made = nil
		}
	}
	return len(k.docs) > 0
}

// open reports whether the cursor stays when its batch was sent.
func (k *cursor) open() bool { return k.more() || k.tail != nil }

// cursors are the open cursors by id.
type cursors struct {
	mu   sync.Mutex
	rng  *rand.Rand
	byID map[int64]*cursor
	busy map[int64]*cursor // tailable ones whose getMore waits
}

func newCursors(seed int64) *cursors {
	return &cursors{rng: rand.New(rand.NewPCG(uint64(seed), 0xc0ffee)), byID: make(map[int64]*cursor), busy: make(map[int64]*cursor)}
}

// open registers a cursor that is not exhausted and gives it an id.
func (t *cursors) open(k *cursor) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.sweep(now)
	for k.id == 0 || t.byID[k.id] != nil {
		k.id = t.rng.Int64()
	}
	k.used = now
	t.byID[k.id] = k
	return k.id
}

// sweep closes expired cursors. It runs whenever one is opened, so that no timer
// goroutine is needed.
func (t *cursors) sweep(now time.Time) {
	var oldest *cursor
	for id, k := range t.byID {
		if !k.keep && now.Sub(k.used) > cursorLife {
			delete(t.byID, id)
		} else if oldest == nil || k.used.Before(oldest.used) {
			oldest = k
		}
	}
	if len(t.byID) >= maxOpenCursors {
		delete(t.byID, oldest.id)
	}
}

// take removes a cursor for the duration of a getMore, so that two concurrent ones
// cannot share it.
func (t *cursors) take(id int64, ns string) (*cursor, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.byID[id]
	if k == nil || !k.keep && time.Since(k.used) > cursorLife {
		return nil, status.Errorf(status.CursorNotFound, "cursor id %d not found", id)
	}
	if k.ns != ns {
		return nil, status.Errorf(status.Unauthorized,
			"Requested getMore on namespace '%s', but cursor belongs to a different namespace %s", ns, k.ns)
	}
	delete(t.byID, id)
	if k.tail != nil {
		t.busy[id] = k
	}
	return k, nil
}

// claim gives an open cursor to a user.
func (t *cursors) claim(id int64, owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.byID[id]; k != nil {
		k.owner = owner
	}
}

// ownedBy reports whether a cursor, if it is open at all, is the user's.
func (t *cursors) ownedBy(id int64, owner string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.byID[id]
	return k == nil || k.owner == owner
}

// standing are the cursors that stand on shards for those that are open and not being read.
func (t *cursors) standing() (out []shardCursor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, k := range t.byID {
		if k.on == nil || !k.keep && time.Since(k.used) > cursorLife {
			continue
		}
		for _, shard := range k.on.shards {
			one := *k.on
			one.id, one.shard, one.keep, one.idle = id, shard, k.keep, time.Since(k.used)
			out = append(out, one)
		}
	}
	return out
}

func (t *cursors) put(k *cursor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.tail != nil && t.busy[k.id] == nil {
		return // killed meanwhile
	}
	delete(t.busy, k.id)
	k.used = time.Now()
	t.byID[k.id] = k
}

// end forgets a cursor that ended while it was taken.
func (t *cursors) end(k *cursor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.busy, k.id)
}

// interrupt ends the getMore of a tailable cursor that waits. The caller holds mu.
func (t *cursors) interrupt(k *cursor) {
	delete(t.busy, k.id)
	close(k.tail.killed)
}

func (t *cursors) kill(id int64, ns string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.busy[id]; k != nil && k.ns == ns {
		t.interrupt(k)
		return true
	}
	k := t.byID[id]
	if k == nil || k.ns != ns {
		return false
	}
	delete(t.byID, id)
	return true
}

// closeSession closes the cursors of a user's session; user is as in userDigest.
func (t *cursors) closeSession(session, user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, k := range t.byID {
		if k.session == session && userDigest(k.owner) == user {
			delete(t.byID, id)
		}
	}
	for _, k := range t.busy {
		if k.session == session {
			t.interrupt(k)
		}
	}
}

func (t *cursors) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.byID) + len(t.busy)
}

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
		k.lsid = encode(value.D("id", lsid.Lookup("id"), "uid", []byte(userDigest(c.ownerOf(r)))))
	}
	if r.Conn != nil { // as mongos passes it on
		router := value.D("host", addressOf(c.catalog, configShard), "client", r.Conn.Remote)
		client := value.D("application", value.D("name", r.Conn.App), "mongos", router)
		b := value.NewBuilder(len(r.Body) + 256)
		for name, v := range value.Elements(r.Body) {
			b.Append(name, v)
		}
		k.command = b.Append("$client", value.Doc(encode(client))).Raw()
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

// lateCursors are cursors that nobody reads: the shard was frozen when the command came, mongos gave up, and the shard
// carried it out when it went on (seen on 8.0.10 and 5.0.7, there for some of such reads, here for all). They stand
// until their session is killed or cursorTimeoutMillis have passed.
type lateCursors struct {
	mu   sync.Mutex
	list []*shardCursor // opened is zero while its shard is frozen
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
	k := c.shardCursorOf(r, ns, time.Time{})
	k.shard = shard
	c.late.add(&k)
}

func (l *lateCursors) add(k *shardCursor) {
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
	l.list = slices.DeleteFunc(l.list, func(k *shardCursor) bool {
		_, uid, _ := k.lsid.Lookup("uid").BinaryOK()
		return !k.opened.IsZero() && string(k.lsid.Lookup("id").Value) == id && string(uid) == user
	})
}

// opened are the cursors that stand on shards.
func (l *lateCursors) opened(now time.Time) (out []shardCursor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(k *shardCursor) bool { return !k.opened.IsZero() && now.Sub(k.opened) > cursorLife })
	for _, k := range l.list {
		if !k.opened.IsZero() {
			one := *k
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
		rows = append(rows, encode(value.D("shard", k.shard, "type", "idleCursor",
			"host", addressOf(c.catalog, k.shard), "ns", k.ns, "lsid", k.lsid,
			"cursor", value.D("cursorId", k.id, "createdDate", k.opened,
				"lastAccessDate", now.Add(-k.idle), "nDocsReturned", int64(0), "nBatchesReturned", int64(0),
				"noCursorTimeout", k.keep, "tailable", false, "awaitData", false, "originatingCommand", k.command,
				"operationUsingCursorId", nil))))
	}
	return rows
}
