package webtest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"shardboard/web/live"
	"shardboard/web/site"
)

// OpenAs is Open as somebody: OpenAs("anna admin", …). The server needs WithPeople.
func (l *LiveServer) OpenAs(who, query string) (*Browser, *http.Response) {
	l.t.Helper()
	d := websocket.Dialer{NetDialContext: l.Pipes.Dial, EnableCompression: true} // as browsers do
	conn, res, err := d.Dial("ws://localhost:8090/live?"+query, http.Header{"Origin": {"http://localhost:8090"}, "X-Test-Who": {who}})
	if err != nil {
		return nil, res
	}
	b := &Browser{Conn: conn}
	go b.read()
	synctest.Wait()
	return b, res
}

// CloseCode is the code with which a socket was closed; 0 for another error.
func CloseCode(err error) int {
	var e *websocket.CloseError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// pipes is a listener without a network, so that sockets live inside a
// synctest bubble and time is the test's.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8090} }

func (p *pipes) Dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// LiveServer is the site with open sockets, in simulated time.
type LiveServer struct {
	*Server
	t      *testing.T
	Pipes  *pipes
	stop   func()
	server *http.Server
	done   chan error
}

// InBubble runs a test with simulated time (testing/synctest). At its end everything has to be over: synctest
// reports a goroutine that is left.
func InBubble(t *testing.T, test func(*testing.T, *LiveServer), change ...func(*site.Deps)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := &LiveServer{Server: New(t, change...), t: t, Pipes: newPipes(), stop: cancel, done: make(chan error, 2)}
		l.server = &http.Server{Handler: l.Handler(), ReadHeaderTimeout: site.ReadHeaderTimeout}
		go func() { l.done <- l.server.Serve(l.Pipes) }()
		go func() { l.done <- l.Run(ctx) }()
		synctest.Wait()
		test(t, l)
		l.Close()
		cancel()
		if err := l.server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := <-l.done; err != nil && !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}
	})
}

// Frame is a frame of any kind, as a browser reads it.
type Frame struct {
	Topic  string
	V      uint64
	HTML   string
	Moves  []live.Move
	Status *live.LiveStatus
}

// Browser is an open socket and what it has received.
type Browser struct {
	Conn   *websocket.Conn
	Mu     sync.Mutex
	frames []Frame
	Status []Frame
	ended  error
}

// Dial opens a socket without reading from it.
func (l *LiveServer) Dial(query string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: l.Pipes.Dial, EnableCompression: true} // as browsers do
	return d.Dial("ws://localhost:8090/live?"+query, http.Header{"Origin": {"http://localhost:8090"}})
}

// Open opens a socket and reads from it in the background.
func (l *LiveServer) Open(query string) *Browser {
	l.t.Helper()
	conn, res, err := l.Dial(query)
	if err != nil {
		text := ""
		if res != nil {
			b, _ := io.ReadAll(res.Body)
			text = string(b)
		}
		l.t.Fatalf("%v %s", err, text)
	}
	b := &Browser{Conn: conn}
	go b.read()
	synctest.Wait()
	return b
}

func (b *Browser) read() {
	for {
		_, data, err := b.Conn.ReadMessage()
		b.Mu.Lock()
		if err != nil {
			b.ended = err
			b.Mu.Unlock()
			_ = b.Conn.Close()
			return
		}
		var f Frame
		if err := json.Unmarshal(data, &f); err != nil {
			panic(err)
		}
		if f.Status != nil {
			b.Status = append(b.Status, f)
		} else {
			b.frames = append(b.frames, f)
		}
		b.Mu.Unlock()
	}
}

// Frames are the frames of topics so far.
func (b *Browser) Frames() []Frame {
	synctest.Wait()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return append([]Frame(nil), b.frames...)
}

// Ended is the error that ended the socket; nil while it is open.
func (b *Browser) Ended() error {
	synctest.Wait()
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.ended
}

// Last is the newest frame of a topic.
func (b *Browser) Last(t *testing.T) Frame {
	t.Helper()
	all := b.Frames()
	if len(all) == 0 {
		t.Fatal("no frame")
	}
	return all[len(all)-1]
}

func (b *Browser) Close() {
	_ = b.Conn.Close()
	synctest.Wait()
}
