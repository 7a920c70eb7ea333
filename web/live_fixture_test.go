package web

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

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// liveSite is a site that serves sockets inside a bubble.
type liveSite struct {
	*testSite
	t      *testing.T
	pipes  *pipes
	stop   func()
	server *http.Server
	done   chan error
}

// inBubble runs a test with a live site; at its end everything must be over,
// or synctest reports the goroutine that is left.
func inBubble(t *testing.T, test func(*testing.T, *liveSite), change ...func(*site.Deps)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		l := &liveSite{testSite: newSite(t, change...), t: t, pipes: newPipes(), stop: cancel, done: make(chan error, 2)}
		l.server = &http.Server{Handler: l.Handler(), ReadHeaderTimeout: site.ReadHeaderTimeout}
		go func() { l.done <- l.server.Serve(l.pipes) }()
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

// frame is any frame as a browser reads it.
type frame struct {
	Topic  string
	V      uint64
	HTML   string
	Moves  []live.Move
	Status *live.LiveStatus
}

// browser is one open socket and what it has received.
type browser struct {
	conn   *websocket.Conn
	mu     sync.Mutex
	frames []frame
	status []frame
	ended  error
}

func (l *liveSite) dial(query string) (*websocket.Conn, *http.Response, error) {
	d := websocket.Dialer{NetDialContext: l.pipes.dial}
	return d.Dial("ws://localhost:8090/live?"+query, http.Header{"Origin": {"http://localhost:8090"}})
}

// open connects and reads in the background.
func (l *liveSite) open(query string) *browser {
	l.t.Helper()
	conn, res, err := l.dial(query)
	if err != nil {
		text := ""
		if res != nil {
			b, _ := io.ReadAll(res.Body)
			text = string(b)
		}
		l.t.Fatalf("%v %s", err, text)
	}
	b := &browser{conn: conn}
	go b.read()
	synctest.Wait()
	return b
}

func (b *browser) read() {
	for {
		_, data, err := b.conn.ReadMessage()
		b.mu.Lock()
		if err != nil {
			b.ended = err
			b.mu.Unlock()
			_ = b.conn.Close()
			return
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			panic(err)
		}
		if f.Status != nil {
			b.status = append(b.status, f)
		} else {
			b.frames = append(b.frames, f)
		}
		b.mu.Unlock()
	}
}

// got is every topic frame so far.
func (b *browser) got() []frame {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]frame(nil), b.frames...)
}

func (b *browser) over() error {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

func (b *browser) last(t *testing.T) frame {
	t.Helper()
	all := b.got()
	if len(all) == 0 {
		t.Fatal("no frame")
	}
	return all[len(all)-1]
}

func (b *browser) Close() {
	_ = b.conn.Close()
	synctest.Wait()
}
