package live

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// Deadlines of one socket. A browser that is gone without a word is noticed
// after readWait.
const (
	writeWait = 10 * time.Second
	pingEvery = 25 * time.Second
	readWait  = 60 * time.Second
	ReadLimit = 1 << 10 // browsers have nothing to say: bytes per message

	checkEvery = 30 * time.Second
	checkWait  = 10 * time.Second
	endWithin  = 500 * time.Millisecond // for a goodbye, once the session is over
	VouchedFor = time.Minute            // whom only a proxy knows; then they come through it again
	CloseEnded = 4401                   // close code of a session that is over; static/js/live.js knows it
)

// wsMessage is a frame prepared once and written to many sockets.
type wsMessage struct {
	prepared *websocket.PreparedMessage
	size     int
}

func newMessage(v any) (*wsMessage, error) {
	data, err := MarshalFrame(v)
	if err != nil {
		return nil, err
	}
	p, err := websocket.NewPreparedMessage(websocket.TextMessage, data)
	if err != nil {
		return nil, err
	}
	return &wsMessage{prepared: p, size: len(data)}, nil
}

// socket is one browser's connection. The hub only pushes into its bounded
// queue; a goroutine of its own writes, and the request's own goroutine reads
// so that pongs and closes are seen.
type socket struct {
	topics map[string]uint64 // version that the browser came with
	hidden answer.Hidden     // from whoever opened it
	conn   *websocket.Conn
	queue  chan *wsMessage
	going  chan struct{} // closed when the socket shall say goodbye
	gone   chan struct{} // closed when the connection is
	once   sync.Once
	code   int // of the goodbye; set before going is closed
}

// push never waits: a browser that cannot keep up is closed and will come
// back with its versions, which is cheaper for everybody than waiting for it.
func (c *socket) push(m *wsMessage) {
	if m == nil {
		return
	}
	select {
	case c.queue <- m:
	default:
		c.kill()
	}
}

// leave asks the writer to say goodbye and close. Safe to call often.
func (c *socket) leave() { c.part(websocket.CloseGoingAway) }

func (c *socket) part(code int) {
	c.once.Do(func() {
		c.code = code
		close(c.going)
	})
}

// kill closes at once, which also frees a writer that is stuck.
func (c *socket) kill() {
	c.leave()
	_ = c.conn.Close()
}

// serve is the WebSocket: server to browser only. Its origin has been checked
// by then, outside of the router.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request) error {
	s := h.site
	who := auth.From(r.Context())
	topics, err := h.ParseTopics(r.URL.Query(), who)
	if err != nil {
		return err
	}
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		return &site.StatusError{Status: http.StatusUpgradeRequired, Text: "This address speaks WebSocket only."}
	}
	if !h.Admit() {
		return fault.New(fault.Unavailable, "Live updates are not available now: too many browsers, or the server is stopping.")
	}
	defer h.Release()
	if !s.Guard.Limits.Enter(who) {
		return &site.StatusError{Status: http.StatusTooManyRequests, Text: "You have too many live pages open. Close some of them."}
	}
	defer s.Guard.Limits.Exit(who)
	ended := s.Deps.Auth.Ended(who) // before the check, so that no end falls between
	if err := s.Deps.Auth.Check(r.Context(), who); err != nil {
		if errors.Is(err, auth.ErrNobody) {
			s.Guard.Refuse(w, r, auth.Principal{}, auth.Viewer)
			return nil
		}
		return err
	}
	up := websocket.Upgrader{
		HandshakeTimeout: writeWait,
		CheckOrigin:      func(*http.Request) bool { return true }, // done outside, and stricter
		Error: func(w http.ResponseWriter, r *http.Request, status int, _ error) {
			s.Fail(w, r, &site.StatusError{Status: status, Text: "The WebSocket handshake is not correct."})
		},
	}
	// The handshake of a page that was open over a change of the role may be the
	// request that rotates the session; its answer is not written by way of w.
	var rotated http.Header
	if cookies := w.Header().Values("Set-Cookie"); len(cookies) > 0 {
		rotated = http.Header{"Set-Cookie": cookies}
	}
	conn, err := up.Upgrade(w, r, rotated)
	if err != nil {
		return nil // answered by Error above
	}
	c := &socket{
		topics: topics,
		hidden: s.HiddenFrom(who),
		conn:   conn,
		queue:  make(chan *wsMessage, MaxQueuedFrame),
		going:  make(chan struct{}),
		gone:   make(chan struct{}),
	}
	var works sync.WaitGroup
	works.Go(c.write)
	works.Go(func() { watch(s, r.Context(), c, who, ended) })
	select {
	case h.joins <- c:
		c.read()
		c.leave()
		select {
		case h.leaves <- c:
		case <-h.done:
		}
	case <-h.done:
		c.leave()
	}
	works.Wait()
	return nil
}

// watch closes the socket when whoever opened it is signed out, or is no
// longer who they were. Told at once by this process, and asked for again in
// case another one ended it. Who cannot be checked is closed too: they come
// back and are asked at the door.
func watch(s *site.Site, ctx context.Context, c *socket, who auth.Principal, ended <-chan struct{}) {
	again := time.NewTicker(checkEvery)
	defer again.Stop()
	var vouched <-chan time.Time // there is nothing that we could ask
	if who.Method == auth.ByProxy {
		over := time.NewTimer(VouchedFor)
		defer over.Stop()
		vouched = over.C
	}
	for {
		code := 0
		select {
		case <-vouched:
			code = websocket.CloseGoingAway // the page comes back by itself
		case <-c.going:
			return
		case <-ended:
			code = CloseEnded
		case <-again.C:
			switch err := check(s, ctx, who); {
			case errors.Is(err, auth.ErrNobody):
				code = CloseEnded
			case err != nil:
				code = websocket.CloseGoingAway
			}
		}
		if code == 0 {
			continue
		}
		c.part(code)
		force := time.NewTimer(endWithin)
		defer force.Stop()
		select {
		case <-c.gone:
		case <-force.C: // its writer is stuck in a browser that does not read
			c.kill()
		}
		return
	}
}

func check(s *site.Site, ctx context.Context, who auth.Principal) error {
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	return s.Deps.Auth.Check(ctx, who)
}

// read discards what the browser sends until the connection ends.
func (c *socket) read() {
	c.conn.SetReadLimit(ReadLimit)
	alive := func(string) error { return c.conn.SetReadDeadline(time.Now().Add(readWait)) }
	_ = alive("")
	c.conn.SetPongHandler(alive)
	for {
		if _, _, err := c.conn.NextReader(); err != nil {
			return
		}
	}
}

// write sends the queue, pings in between, and closes at the end.
func (c *socket) write() {
	defer close(c.gone)
	defer func() { _ = c.conn.Close() }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case <-c.going:
			bye := websocket.FormatCloseMessage(c.code, "")
			_ = c.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(Farewell))
			return
		case m := <-c.queue:
			_ = c.conn.SetWriteDeadline(time.Now().Add(writeWait))
			if c.conn.WritePreparedMessage(m.prepared) != nil {
				return
			}
		case <-ping.C:
			if c.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)) != nil {
				return
			}
		}
	}
}
