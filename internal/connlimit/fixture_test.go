package connlimit

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
)

// wire is an in-process network for a synctest bubble: a listener with connections from
// any address.
type wire struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error   { w.once.Do(func() { close(w.done) }); return nil }
func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8090} }

type addressed struct {
	net.Conn
	from string
}

func (a addressed) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(a.from), 4000))
}

// testServer is a server behind a Listener in a synctest bubble.
type testServer struct {
	t    *testing.T
	wire *wire
	l    *Listener
	http *http.Server
	log  lockedBuffer
	all  []*testClient
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inBubble runs a server with these limits. Requests below /in are signed in, /slow and
// /in/slow answer after a minute, /body reads the body, and /socket takes over the
// connection until it is closed.
func inBubble(t *testing.T, o Options, test func(*testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &testServer{t: t, wire: &wire{conns: make(chan net.Conn), done: make(chan struct{})}}
		o.Log = slog.New(slog.NewTextHandler(&h.log, nil))
		h.l = New(h.wire, o)
		server := &http.Server{Handler: http.HandlerFunc(serve), ConnState: h.l.ConnState, ConnContext: h.l.ConnContext,
			ReadHeaderTimeout: 10 * time.Minute, IdleTimeout: 10 * time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		h.http = server
		server.RegisterOnShutdown(h.l.CloseSilent)
		served := make(chan error, 1)
		go func() { served <- server.Serve(h.l) }()
		test(h)
		_ = server.Close()
		<-served
		for _, v := range h.all {
			_ = v.conn.Close()
		}
		time.Sleep(2 * time.Minute) // until slow answers and sockets have ended
		synctest.Wait()
		if s := h.l.Stats(); s.Open != 0 || s.states != [states]int{} || len(h.l.sources) != 0 {
			t.Errorf("after the end: %+v, %d sources", s, len(h.l.sources))
		}
		for r := range h.l.all {
			expect.Equal(t, h.l.all[r].Len(), 0, "connections remain in rank %d", r)
		}
	})
}

func serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/in") {
		SignedIn(r.Context())
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/slow"):
		select {
		case <-time.After(time.Minute):
		case <-r.Context().Done():
		}
	case strings.HasSuffix(r.URL.Path, "/body"):
		_, _ = io.Copy(io.Discard, r.Body)
	case strings.HasSuffix(r.URL.Path, "/socket"):
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
		return
	}
	_, _ = io.WriteString(w, "ok")
}

// testClient is the client's end of one connection.
type testClient struct {
	t     *testing.T
	conn  net.Conn
	mu    sync.Mutex
	heard bytes.Buffer
	over  bool
}

// connect opens a connection without sending anything.
func (h *testServer) connect(from string) *testClient {
	h.t.Helper()
	ours, theirs := net.Pipe()
	h.wire.conns <- addressed{theirs, from}
	v := &testClient{t: h.t, conn: ours}
	h.all = append(h.all, v)
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			v.mu.Lock()
			v.heard.Write(b[:n])
			v.over = err != nil
			v.mu.Unlock()
			if err != nil {
				_ = ours.Close()
				return
			}
		}
	}()
	synctest.Wait()
	return v
}

// send sends text and waits until the server is blocked or idle.
func (v *testClient) send(text string) *testClient {
	v.t.Helper()
	go func() { _, _ = io.WriteString(v.conn, text) }()
	synctest.Wait()
	return v
}

func (v *testClient) get(path string) *testClient {
	v.t.Helper()
	return v.send(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path))
}

// startPost sends the head of a request without its body.
func (v *testClient) startPost(path string) *testClient {
	v.t.Helper()
	return v.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n", path))
}

func (v *testClient) isOpen() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.over
}

func (v *testClient) answerCount() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Count(v.heard.String(), "200 OK")
}

// expect checks whether connections are open.
func (h *testServer) expect(what string, want bool, all ...*testClient) {
	h.t.Helper()
	synctest.Wait()
	for i, v := range all {
		expect.Equal(h.t, v.isOpen(), want, "%s, connection %d: open", what, i)
	}
}
