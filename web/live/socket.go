package live

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
)

// socket is one browser's connection. Thousands of them wait nearly always, so each has
// one goroutine, which reads. A second one is there only while something waits to be written.
type socket struct {
	topics   map[string]uint64 // version that the browser came with
	hidden   answer.Hidden     // from whoever opened it
	who      auth.Principal
	until    time.Time // when it is closed; zero: not by the time
	round    int       // in which second of each turn it is pinged and checked
	rolesSeq uint64    // how often roles had changed before it was checked at the door

	polled *[]json.RawMessage // of a page without a socket: what is pushed; nil: of a socket

	conn *wsConn // nil until the handshake is over

	writer  sync.WaitGroup // the second goroutine
	mu      sync.Mutex
	writing bool         // the second goroutine is there, and writes what is in queue
	queue   []*wsMessage // at most MaxQueuedFrame
	over    bool         // nothing is pushed any more
	code    int          // of the goodbye, when it was said before there was a connection
}

// connected gives the socket its connection.
func (c *socket) connected(conn *wsConn) {
	c.mu.Lock()
	c.conn = conn
	code := c.code
	c.over = false
	c.mu.Unlock()
	if code != 0 {
		c.part(code)
	}
}

// push never waits: a browser that cannot keep up is closed and will come
// back with its versions, which is cheaper for everybody than waiting for it.
func (c *socket) push(m *wsMessage) {
	if m == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.polled != nil {
		*c.polled = append(*c.polled, m.text)
		return
	}
	if !c.over && !c.send(m) {
		c.close()
	}
}

// send leaves a message to the second goroutine; false when the socket is to be closed. Needs the lock.
func (c *socket) send(m *wsMessage) bool {
	c.queue = append(c.queue, m)
	if !c.writing {
		c.writing = true
		c.writer.Go(c.write)
	}
	return len(c.queue) <= MaxQueuedFrame
}

// close needs the lock.
func (c *socket) close() {
	c.over = true
	c.queue = nil
	_ = c.conn.Close() // which also ends a write that waits
}

// write writes what waits until nothing does.
func (c *socket) write() {
	for m := c.next(); m != nil; m = c.next() {
		_ = c.conn.SetWriteDeadline(time.Now().Add(writeWait))
		if c.conn.WritePreparedMessage(m.prepared) != nil {
			c.kill()
			return
		}
	}
}

// next is what has to be written next; nil when nothing waits.
func (c *socket) next() *wsMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 {
		m := c.queue[0]
		c.queue = c.queue[1:]
		return m
	}
	c.writing, c.queue = false, nil
	if c.over {
		c.close()
	}
	return nil
}

// leave says goodbye and closes. Safe to call often.
func (c *socket) leave() { c.part(closeGoingAway) }

// part says goodbye after what is under way, drops what waits, and closes. It does not
// wait for a browser that does not read: it is closed after endWithin.
func (c *socket) part(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	if c.conn == nil {
		c.code = code
		return
	}
	c.queue = nil
	bye, err := goodbye(code)
	if err != nil {
		c.close()
		return
	}
	c.send(bye)
	time.AfterFunc(endWithin, c.kill)
}

// kill closes at once.
func (c *socket) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.close()
}

// MaxReceived is how many pings, pongs and messages a browser may send at once, and one a second after that. A
// browser sends only pongs, one in 25 s; each ping would cost an answer.
const MaxReceived = 20

var errTooMany = errors.New("too many pings or messages")

// read discards what the browser sends until the connection ends, or it sends too much.
func (c *socket) read() {
	c.conn.SetReadLimit(ReadLimit)
	received := rate.NewLimiter(1, MaxReceived)
	alive := func(string) error {
		if !received.Allow() {
			return errTooMany
		}
		return c.conn.SetReadDeadline(time.Now().Add(readWait))
	}
	_ = alive("")
	c.conn.SetPongHandler(alive)
	answer := c.conn.PingHandler()
	c.conn.SetPingHandler(func(text string) error {
		if err := alive(text); err != nil {
			return err
		}
		return answer(text)
	})
	for {
		if _, _, err := c.conn.NextReader(); err != nil || !received.Allow() {
			return
		}
	}
}
