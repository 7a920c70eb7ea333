package simcluster

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

const (
	// sessionLife is logicalSessionTimeoutMinutes.
	sessionLife = 30 * time.Minute
	// maxSessions is how many sessions are kept; the least recently used are removed
	// first.
	maxSessions = 20_000
)

// session keeps the reply of the last retryable write of a logical session, so that a
// retry gets that reply and writes nothing, and the session's transaction.
type session struct {
	mu    sync.Mutex // held while a write of the session runs
	txn   int64
	reply bson.D                      // nil before the first write, and in a transaction
	tx    atomic.Pointer[transaction] // the newest, nil when a write followed it
	used  time.Time
	ended atomic.Bool // and forgotten: what still waits for mu belongs to the next session of this id

	earlier *transaction // the newest of the session of this id that was ended: what it committed is stored, and stays known
}

// sessions are the logical sessions by the bytes of their id.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
}

// withSession runs a command under the rules of its session.
func (ts *transactions) withSession(ctx context.Context, r *engine.Request, a common, retryable bool,
	run func(context.Context) (bson.D, error)) (bson.D, error) {
	if a.starts || a.hasAutocommit {
		return ts.inTransaction(ctx, r, a, run)
	}
	if !retryable || !a.hasTxn || a.session == "" {
		return run(ctx)
	}
	s := ts.sessions.lock(a.session)
	defer s.mu.Unlock()
	tx := s.tx.Load()
	switch {
	case a.txn < s.txn:
		return nil, status.Errorf(status.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session because a newer "+
			"retryable write with txnNumber %d has already started on this session.", a.txn, s.txn)
	case a.txn == s.txn && s.reply != nil:
		return s.reply[:len(s.reply):len(s.reply)], nil
	case tx != nil && a.txn == s.txn:
		return nil, status.Errorf(status.IllegalOperation, "Retryable write with txnNumber %d is prohibited on session because a "+
			"transaction with that number has already started on this session.", a.txn)
	case tx != nil:
		ts.abort(tx)
		s.tx.Store(nil)
	}
	reply, err := run(ctx)
	if err == nil {
		// The caller appends to the reply, so limit its capacity.
		s.txn, s.reply = a.txn, reply[:len(reply):len(reply)]
	}
	return reply, err
}

// use finds or makes a session and marks it as used.
func (t *sessions) use(id string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	s := t.byID[id]
	if s == nil {
		if len(t.byID) >= maxSessions {
			t.sweep(now)
		}
		s = &session{}
		if t.byID == nil {
			t.byID = make(map[string]*session)
		}
		t.byID[id] = s
	}
	s.used = now
	return s
}

// lock is use, with mu held.
func (t *sessions) lock(id string) *session {
	for {
		s := t.use(id)
		s.mu.Lock()
		if !s.ended.Load() {
			return s
		}
		s.mu.Unlock()
	}
}

// sweep removes expired sessions or, if there are none, half of all. Only the replies
// of finished writes are lost.
func (t *sessions) sweep(now time.Time) {
	for id, s := range t.byID {
		if now.Sub(s.used) > sessionLife {
			delete(t.byID, id)
		}
	}
	for id, s := range t.byID {
		if len(t.byID) <= maxSessions/2 {
			return
		}
		if s.tx.Load() == nil {
			delete(t.byID, id)
		}
	}
}

// end forgets a session but for its newest transaction, and returns it; nil when it is not known.
func (t *sessions) end(id string) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.byID[id]
	delete(t.byID, id)
	if s == nil {
		return nil
	}
	s.ended.Store(true)
	if tx := cmp.Or(s.tx.Load(), s.earlier); tx != nil {
		t.byID[id] = &session{earlier: tx, used: s.used}
	}
	return s
}

// sessionIDSize is the size of a session's id, a uuid as BSON; the owner follows it.
const sessionIDSize = 4 + 1 + 16

// transactionsOf lists the newest transactions of an owner's sessions.
func (t *sessions) transactionsOf(owner string) (list []*transaction) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, s := range t.byID {
		if tx := s.tx.Load(); tx != nil && id[min(sessionIDSize, len(id)):] == owner {
			list = append(list, tx)
		}
	}
	return list
}

func (c *Cluster) startSession(context.Context, *engine.Request) (bson.D, error) {
	c.catalog.Mu.Lock()
	id := c.catalog.UUID()
	c.catalog.Mu.Unlock()
	return value.D("id", value.D("id", uuidValue(id)), "timeoutMinutes", int32(sessionLife/time.Minute)), nil
}

// endSessions also closes the cursors and aborts the transactions of the sessions, as the
// server does.
func (c *Cluster) endSessions(_ context.Context, r *engine.Request) (bson.D, error) {
	list, ok := r.Lookup(r.Name).ArrayOK()
	if !ok {
		return nil, wrongType(r.Name+"."+r.Name, r.Lookup(r.Name), "array")
	}
	if r.Name == "killSessions" && len(list) <= emptyArray { // all sessions of the user
		for _, tx := range c.transactions.sessions.transactionsOf(c.ownerOf(r)) {
			c.transactions.abort(tx)
		}
	}
	for e := value.Read(bson.Raw(list)); e.Next(); {
		if d, ok := e.Value.DocumentOK(); ok {
			id := string(d.Lookup("id").Value)
			c.endSession(id, r)
			c.closeCursors(id, userDigest(c.ownerOf(r)))
		}
	}
	return bson.D{}, nil
}

// closeCursors closes the cursors of a user's session.
func (c *Cluster) closeCursors(session, user string) {
	c.cursors.closeSession(session, user)
	c.late.closeSession(session, user)
}

// ownerOf is the owner of what a request opens; "" without access control.
func (c *Cluster) ownerOf(r *engine.Request) string {
	if guard := c.guardOf(r); guard != nil {
		return guard.Owner()
	}
	return ""
}

// killSessionsByPattern closes the cursors of sessions that are named with their users. Other patterns do not exist
// here.
func (c *Cluster) killSessionsByPattern(_ context.Context, r *engine.Request) (bson.D, error) {
	list, ok := r.Lookup(r.Name).ArrayOK()
	if !ok {
		return nil, wrongType(r.Name+"."+r.Name, r.Lookup(r.Name), "array")
	}
	for e := value.Read(bson.Raw(list)); e.Next(); {
		pattern, _ := e.Value.DocumentOK()
		lsid, _ := pattern.Lookup("lsid").DocumentOK()
		_, uid, isUser := lsid.Lookup("uid").BinaryOK()
		if !isUser || len(pattern) == 0 {
			return nil, status.Errorf(status.InvalidOptions, "this simulated cluster knows only patterns with an lsid, not '%s'", e.Value)
		}
		c.closeCursors(string(lsid.Lookup("id").Value), string(uid))
	}
	return bson.D{}, nil
}

// emptyArray is the size of an array without elements.
const emptyArray = 5

// endSession ends a session of the request's user.
func (c *Cluster) endSession(id string, r *engine.Request) {
	s := c.transactions.sessions.end(id + c.ownerOf(r))
	if s == nil {
		return
	}
	if tx := s.tx.Load(); tx != nil {
		c.transactions.abort(tx)
	}
}
