package live

import (
	"errors"
	"net/http"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// Deadlines of one socket. A browser that is gone without a word is noticed
// after readWait.
const (
	writeWait = 10 * time.Second
	readWait  = 60 * time.Second
	ReadLimit = 1 << 10 // browsers have nothing to say: bytes per message

	endWithin  = 500 * time.Millisecond // for a goodbye to a browser that is behind
	VouchedFor = time.Minute            // whom only a proxy knows; then they come through it again
	CloseEnded = 4401                   // close code of a session that is over; static/js/live.js knows it
)

// Serve is the WebSocket: server to browser only. Its origin has been checked
// by then, outside of the router.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request) error {
	s := h.site
	who := auth.From(r.Context())
	topics, err := h.ParseTopics(r.URL.Query(), who)
	if err != nil {
		return err
	}
	polls := r.URL.Query().Has("poll")
	if !polls && !isUpgrade(r) {
		if r.Header.Get("Sec-WebSocket-Key") != "" { // a browser wanted one
			h.warnOfProxy()
		}
		w.Header().Set("Upgrade", "websocket")
		return &site.StatusError{Status: http.StatusUpgradeRequired, Text: "This address speaks WebSocket only."}
	}
	if !h.Admit() {
		return fault.New(fault.Unavailable, "Live updates are not available now: too many browsers, or the server is stopping.")
	}
	taken := false // by a goroutine that releases what this socket holds
	defer func() {
		if !taken {
			h.Release()
		}
	}()
	if !s.Guard.Limits.Enter(who) {
		return &site.StatusError{Status: http.StatusTooManyRequests, Text: "You have too many live pages open. Close some of them."}
	}
	defer func() {
		if !taken {
			s.Guard.Limits.Exit(who)
		}
	}()
	if polls { // only where a socket would be let in
		return h.poll(w, r, topics, who)
	}
	c := &socket{topics: topics, hidden: s.HiddenFrom(who), who: who, rolesSeq: h.rolesSeq.Load()}
	if who.Method == auth.ByProxy {
		c.until = time.Now().Add(VouchedFor)
	}
	stop := s.Deps.Access.Auth.AfterEnd(who, func() { c.part(CloseEnded) }) // before the check, so that no end falls between
	defer func() {
		if !taken {
			stop()
		}
	}()
	if err := s.Deps.Access.Auth.Check(r.Context(), who); err != nil {
		if errors.Is(err, auth.ErrNobody) {
			s.Guard.Refuse(w, r, auth.Principal{}, auth.Viewer)
			return nil
		}
		return err
	}
	fail := func(status int) {
		s.Fail(w, r, &site.StatusError{Status: status, Text: "The WebSocket handshake is not correct."})
	}
	// The handshake of a page that was open over a change of the role may be the
	// request that rotates the session; its answer is not written by way of w.
	var rotated http.Header
	if cookies := w.Header().Values("Set-Cookie"); len(cookies) > 0 {
		rotated = http.Header{"Set-Cookie": cookies}
	}
	conn, err := upgrade(w, r, rotated, fail)
	if err != nil {
		return nil // answered by fail
	}
	c.connected(conn)
	// The handler returns now: its goroutine has grown a large stack and holds the request
	// and the server's buffers, twice as much as all else of a socket.
	taken = true
	go h.attend(c, stop)
	return nil
}

// attend serves a socket until it ends. The hub waits for it by what Release counts.
func (h *Hub) attend(c *socket, stop func()) {
	defer h.Release()
	defer h.site.Guard.Limits.Exit(c.who)
	defer stop()
	select {
	case h.joins <- c:
		c.read()
		c.kill()
		select {
		case h.leaves <- c:
		case <-h.done:
		}
	case <-h.done:
		c.leave()
	}
	c.writer.Wait()
}
