package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// A read that is given up may still be carried out: a shard that hung does what reached it when it goes on, and the
// cursor that this opens stands for ten minutes, though nobody reads it. The range deleter waits for all cursors that
// are older than a range's departure, so that such a cursor keeps old documents from being deleted and moves from
// coming back (seen on a real 8.0.10). So every read has a session of its own, and the sessions of reads that were
// given up are killed, which closes their cursors and needs no privilege. The driver does not get such a session back.

// maxGivenUp bounds the sessions that wait to be killed; a server ends a cursor by itself after cursorTimeoutMillis.
const (
	maxGivenUp    = 1000
	cursorTimeout = 10 * time.Minute
)

// How often sessions are killed. It is done again after the first success, because a shard may carry out the read after
// it answered killSessions.
const (
	firstKillPause = 250 * time.Millisecond
	maxKillPause   = 5 * time.Second
	killLimit      = 5 * time.Second // of one command; a mongos asks all shards
	killAgain      = 2               // times after the first success
	killAgainPause = 3 * time.Second
)

// givenUpSession is the session of a read that ended without its whole answer.
type givenUpSession struct {
	id    bson.Raw // {id: UUID}
	since time.Time
	kills int // that the server answered
}

// givenUpReads kills the sessions of reads that were given up. Safe for concurrent use.
type givenUpReads struct {
	mu      sync.Mutex
	list    []givenUpSession
	running bool
	ended   chan struct{} // closed when the goroutine that kills has ended
}

// readSession begins the session of one read. end gives it back to the driver, or has it killed when the read failed in
// a way that may leave a cursor. Where the driver can begin none, as while no server is known, the read has the
// driver's own.
func (p *pool) readSession(ctx context.Context) (_ context.Context, end func(error)) {
	s, err := p.mongo.StartSession(options.Session().SetCausalConsistency(false))
	if err != nil {
		return ctx, func(error) {}
	}
	return mongo.NewSessionContext(ctx, s), func(err error) {
		if leavesCursor(err) {
			p.giveUp(s.ID())
			return
		}
		s.EndSession(context.WithoutCancel(ctx))
	}
}

// leavesCursor reports whether a read with this error may be carried out later: it was not answered, or answered by a
// server that itself waits for another.
func leavesCursor(err error) bool {
	if err == nil || isSelection(err) {
		return false
	}
	var server mongo.ServerError
	if !errors.As(err, &server) || mongo.IsNetworkError(err) {
		return true
	}
	for _, code := range server.ErrorCodes() {
		if unavailable(code) {
			return true
		}
	}
	return false
}

// giveUp has a session killed.
func (p *pool) giveUp(id bson.Raw) {
	g := &p.givenUp
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.list) == maxGivenUp || p.life.Err() != nil {
		return
	}
	g.list = append(g.list, givenUpSession{id: append(bson.Raw{}, id...), since: time.Now()})
	if !g.running {
		g.running, g.ended = true, make(chan struct{})
		go p.killGivenUp(g.ended)
	}
}

// killGivenUp kills sessions until there are none left or the pool is closed.
func (p *pool) killGivenUp(ended chan struct{}) {
	defer close(ended)
	pause := firstKillPause
	for {
		select {
		case <-time.After(pause):
		case <-p.life.Done():
			return
		}
		if p.killSessions(p.life) {
			pause = killAgainPause
		} else {
			pause = min(2*pause, maxKillPause)
		}
		p.givenUp.mu.Lock()
		if len(p.givenUp.list) == 0 {
			p.givenUp.running = false
			p.givenUp.mu.Unlock()
			return
		}
		p.givenUp.mu.Unlock()
	}
}

// killSessions kills all sessions that wait for it, once, and forgets those that were killed often enough or whose
// cursors the servers have ended.
func (p *pool) killSessions(ctx context.Context) (answered bool) {
	g := &p.givenUp
	g.mu.Lock()
	ids := make(bson.A, 0, len(g.list))
	for _, s := range g.list {
		ids = append(ids, s.id)
	}
	g.mu.Unlock()
	if len(ids) == 0 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	_, err := p.run(ctx, "admin", bson.D{{Key: "killSessions", Value: ids}})
	now := time.Now()
	answered = err == nil
	final := err != nil && !leavesCursor(err) // refused: trying again does not help
	g.mu.Lock()
	defer g.mu.Unlock()
	left := g.list[:0]
	for i, s := range g.list {
		if i < len(ids) && answered {
			s.kills++
		}
		if i < len(ids) && (final || s.kills > killAgain) || now.Sub(s.since) > cursorTimeout {
			continue
		}
		left = append(left, s)
	}
	g.list = left
	return answered
}

// endGivenUp kills what is left before the pool is closed, which takes at most closeTimeout.
func (p *pool) endGivenUp(ctx context.Context) {
	p.givenUp.mu.Lock()
	ended := p.givenUp.ended
	p.givenUp.mu.Unlock()
	if ended == nil {
		return
	}
	<-ended
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	p.killSessions(ctx)
}
