package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
)

// A read that is given up may still be carried out: a shard that hung does what reached it when it goes on, and the
// cursor that this opens stands for ten minutes, though nobody reads it. The range deleter waits for all cursors that
// are older than a range's departure, so that such a cursor keeps old documents from being deleted and moves from
// coming back (seen on a real 8.0.10). So every read has a session of its own, and the sessions of reads that were
// given up are killed, which closes their cursors and needs no privilege. The driver does not get such a session back.
// Where open cursors may be read, a look afterwards shows whether one still stands, and kills go on until none does.

// maxGivenUp bounds the sessions that wait to be killed; a server ends a cursor by itself after cursorTimeoutMillis.
const (
	maxGivenUp    = 1000
	cursorTimeout = 10 * time.Minute
)

// How often sessions are killed. It is done again after the first success, because a shard may carry out the read after
// it answered killSessions.
const (
	firstKillPause = 250 * time.Millisecond
	maxKillPause   = 2 * time.Second
	killLimit      = 5 * time.Second // of one command; a mongos asks all shards
	killAgain      = 2               // times after the first success
	killAgainPause = 3 * time.Second
	// idleTooLong is after which time without use a cursor of ours is left, although its read ended well: mongos may
	// ask a shard again, and answer, while the first of both commands still waits there.
	idleTooLong = time.Minute
)

// givenUpSession is the session of a read that ended without its whole answer.
type givenUpSession struct {
	id    bson.Raw // {id: UUID}
	since time.Time
	kills int       // that the server answered
	last  time.Time // when it answered the last one
}

// killed tells whether the session was killed often enough.
func (s givenUpSession) killed() bool { return s.kills > killAgain }

// givenUpReads kills the sessions of reads that were given up. Safe for concurrent use.
type givenUpReads struct {
	mu      sync.Mutex
	list    []givenUpSession
	reading map[string]int // sessions of reads under way, by id
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
	id := sessionID(s.ID())
	p.givenUp.begin(id)
	return mongo.NewSessionContext(ctx, s), func(err error) {
		p.givenUp.end(id)
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

func sessionID(id bson.Raw) string {
	_, bytes, _ := id.Lookup("id").BinaryOK()
	return string(bytes)
}

func (g *givenUpReads) begin(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reading == nil {
		g.reading = map[string]int{}
	}
	g.reading[id]++
}

func (g *givenUpReads) end(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reading[id]--; g.reading[id] == 0 {
		delete(g.reading, id)
	}
}

// giveUp has a session killed.
func (p *pool) giveUp(id bson.Raw) {
	g := &p.givenUp
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.life.Err() != nil {
		return
	}
	if len(g.list) == maxGivenUp { // the oldest has been killed most often
		g.list = slices.Delete(g.list, 0, 1)
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
		switch asked, answered := p.killSessions(p.life); {
		case !answered:
			pause = min(2*pause, maxKillPause)
		case asked:
			pause = killAgainPause
		default:
			pause = cursorLookPause
		}
		if p.givenUp.toCheck(time.Now()) {
			p.checkGivenUp(p.life)
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

// toCheck tells whether some sessions were killed often enough, and a shard has had time since to close their cursors.
func (g *givenUpReads) toCheck(now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(g.list, func(s givenUpSession) bool { return s.killed() && now.Sub(s.last) >= killAgainPause })
}

// killSessions kills all sessions that wait for it, once, and forgets those whose cursors the servers have ended.
// asked tells whether there were any.
func (p *pool) killSessions(ctx context.Context) (asked, answered bool) {
	g := &p.givenUp
	sent := map[string]bool{}
	ids := bson.A{}
	g.mu.Lock()
	for _, s := range g.list {
		if !s.killed() {
			ids, sent[string(s.id)] = append(ids, s.id), true
		}
	}
	g.mu.Unlock()
	answered, final := true, false
	if len(ids) > 0 {
		ctx, cancel := context.WithTimeout(ctx, killLimit)
		defer cancel()
		_, err := p.run(ctx, "admin", bson.D{{Key: "killSessions", Value: ids}})
		answered, final = err == nil, err != nil && !leavesCursor(err) // refused: trying again does not help
	}
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(s givenUpSession) bool {
		return final && sent[string(s.id)] || now.Sub(s.since) > cursorTimeout
	})
	for i := range g.list {
		s := &g.list[i]
		if answered && sent[string(s.id)] {
			s.kills++
			s.last = now
		}
	}
	return len(ids) > 0, answered
}

// checkGivenUp looks whether cursors of sessions that were killed still stand, and has those killed again; others are
// forgotten. Where that may not be read, all are forgotten.
func (p *pool) checkGivenUp(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	rows, at, err := p.look(ctx)
	if err != nil && fault.Of(err) != fault.Forbidden {
		return // a server that hangs again
	}
	standing := map[string]bool{}
	g := &p.givenUp
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range rows {
		if k.reader != p.reader || k.Session.ID == "" {
			continue
		}
		standing[k.Session.ID] = true
		listed := slices.ContainsFunc(g.list, func(s givenUpSession) bool { return sessionID(s.id) == k.Session.ID })
		if !listed && g.reading[k.Session.ID] == 0 && !k.Used.IsZero() && at.Sub(k.Used) > idleTooLong && len(g.list) < maxGivenUp {
			id := bson.Binary{Subtype: bson.TypeBinaryUUID, Data: []byte(k.Session.ID)}
			raw, _ := bson.Marshal(bson.D{{Key: "id", Value: id}}) // a binary value can be encoded
			g.list = append(g.list, givenUpSession{id: raw, since: at, kills: killAgain})
		}
	}
	g.list = slices.DeleteFunc(g.list, func(s givenUpSession) bool {
		return s.killed() && (err != nil || at.After(s.last) && !standing[sessionID(s.id)])
	})
	for i := range g.list {
		if s := &g.list[i]; s.killed() && standing[sessionID(s.id)] {
			s.kills = killAgain
		}
	}
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
