package simcluster

import (
	"context"
	"sync"
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
// retry gets that reply and writes nothing.
type session struct {
	mu    sync.Mutex // held while a write of the session runs
	txn   int64
	reply bson.D // nil before the first write
	used  time.Time
}

// sessions are the logical sessions by the bytes of their id.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*session
}

// withSession runs a command under the rules of its session.
func (c *Cluster) withSession(a common, retryable bool, run func() (bson.D, error)) (bson.D, error) {
	if a.multi {
		return nil, status.Errorf(status.IllegalOperation, "Multi-document transactions are not supported by this simulated cluster")
	}
	if !retryable || !a.hasTxn || a.session == "" {
		return run()
	}
	s := c.sessions.use(a.session)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reply != nil {
		switch {
		case a.txn == s.txn:
			return s.reply[:len(s.reply):len(s.reply)], nil
		case a.txn < s.txn:
			return nil, status.Errorf(225, "Retryable write with txnNumber %d is prohibited on session because a newer "+
				"retryable write with txnNumber %d has already started on this session.", a.txn, s.txn)
		}
	}
	reply, err := run()
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

// sweep removes expired sessions or, if there are none, half of all. Only the replies
// of finished writes are lost.
func (t *sessions) sweep(now time.Time) {
	for id, s := range t.byID {
		if now.Sub(s.used) > sessionLife {
			delete(t.byID, id)
		}
	}
	for id := range t.byID {
		if len(t.byID) <= maxSessions/2 {
			return
		}
		delete(t.byID, id)
	}
}

func (t *sessions) end(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}

func (c *Cluster) startSession(context.Context, *engine.Request) (bson.D, error) {
	c.catalog.Mu.Lock()
	id := c.catalog.UUID()
	c.catalog.Mu.Unlock()
	return bson.D{
		{Key: "id", Value: bson.D{{Key: "id", Value: uuidValue(id)}}},
		{Key: "timeoutMinutes", Value: int32(sessionLife / time.Minute)},
	}, nil
}

// endSessions also closes the cursors of the sessions, as the server does.
func (c *Cluster) endSessions(_ context.Context, r *engine.Request) (bson.D, error) {
	list, ok := r.Lookup(r.Name).ArrayOK()
	if !ok {
		return nil, status.Errorf(status.TypeMismatch, "BSON field '%s.%s' is the wrong type, expected type 'array'", r.Name, r.Name)
	}
	for e := value.Read(bson.Raw(list)); e.Next(); {
		if d, ok := e.Value.DocumentOK(); ok {
			id := string(d.Lookup("id").Value)
			c.sessions.end(id)
			c.cursors.closeSession(id)
		}
	}
	return bson.D{}, nil
}

func (c *Cluster) refreshSessions(context.Context, *engine.Request) (bson.D, error) {
	return bson.D{}, nil
}

// noTransaction answers commitTransaction and abortTransaction: no transaction can
// have been started.
func (c *Cluster) noTransaction(_ context.Context, r *engine.Request) (bson.D, error) {
	n, _ := wholeNumber(r.Lookup("txnNumber"))
	return nil, status.Errorf(status.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions.", n)
}
