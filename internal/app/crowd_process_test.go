package app

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/fixture/must"
)

// crowd holds connections to a server. It runs in a separate process, so that its
// garbage and goroutines do not slow the server.
type crowd struct {
	Addr                 string
	Cookies              []string // sessions, each for up to 20 sockets
	Connections, Sockets int
	Hostile              int           // one in this many is hostile
	Every                time.Duration // between two requests of an honest connection

	ready            atomic.Int64 // honest connections that got an answer
	requests, frames atomic.Int64
	lost, closed     atomic.Int64
}

// crowdSeen counts what the crowd observed.
type crowdSeen struct {
	requests, frames int64
	lost             int64 // honest connections and sockets that the server ended
	closed           int64 // hostile connections that the server ended
}

const crowdVariable = "SHARDBOARD_CROWD"

// TestCrowdProcess runs the crowd in its process; it is not a test.
func TestCrowdProcess(t *testing.T) {
	text := os.Getenv(crowdVariable)
	if text == "" {
		t.Skip("started by BenchmarkRequestsInACrowd")
	}
	var c crowd
	must.Do(t, json.Unmarshal([]byte(text), &c))
	ctx, stop := context.WithCancel(t.Context())
	go func() { // the parent ends this process by closing its input
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	c.run(ctx)
	fmt.Printf("crowd over %d %d %d %d\n", c.requests.Load(), c.frames.Load(), c.lost.Load(), c.closed.Load())
}

// run opens all connections at a bounded rate, reports when they are open and keeps
// them.
func (c *crowd) run(ctx context.Context) {
	opening := make(chan struct{}, 20)
	honest := int64(0)
	var all sync.WaitGroup
	enter := func(f func(once func()), hostile bool) {
		if ctx.Err() != nil {
			return
		}
		opening <- struct{}{}
		if !hostile {
			honest++
		}
		all.Go(func() {
			f(sync.OnceFunc(func() {
				if !hostile {
					c.ready.Add(1)
				}
				<-opening
			}))
		})
	}
	for i := range c.Sockets {
		hostile := i%c.Hostile == 0
		enter(func(once func()) { c.reconnect(ctx, once, hostile, func() { c.holdSocket(ctx, i, hostile, once) }) }, hostile)
	}
	for i := range c.Connections {
		hostile := i%c.Hostile == 0
		enter(func(once func()) { c.reconnect(ctx, once, hostile, func() { c.holdConnection(ctx, i, hostile, once) }) }, hostile)
	}
	for c.ready.Load() < honest && ctx.Err() == nil {
		waitForTick(ctx, time.After(10*time.Millisecond))
	}
	fmt.Println("crowd ready")
	all.Wait()
}

// reconnect opens a connection again a second after the server has closed it.
func (c *crowd) reconnect(ctx context.Context, once func(), hostile bool, f func()) {
	defer once()
	for ctx.Err() == nil {
		f()
		if ctx.Err() != nil {
			return
		}
		if hostile {
			c.closed.Add(1)
		} else {
			c.lost.Add(1)
		}
		once()
		waitForTick(ctx, time.After(time.Second))
	}
}

// holdConnection keeps a connection until it is closed. An honest one sends a request
// now and then; a hostile one sends a request byte by byte, is silent or half closed.
func (c *crowd) holdConnection(ctx context.Context, i int, hostile bool, once func()) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.Addr)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	request := fmt.Sprintf("GET /api/v1/cluster HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\n\r\n", c.Cookies[i%len(c.Cookies)])
	if hostile {
		once()
		switch i / c.Hostile % 3 {
		case 0:
			for j := 0; err == nil; j++ {
				_, err = io.WriteString(conn, request[j%len(request):][:1])
				waitForTick(ctx, time.After(time.Second))
			}
		case 1:
			_, _ = io.Copy(io.Discard, conn)
		case 2:
			_, _ = io.WriteString(conn, request)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		}
		return
	}
	answers := bufio.NewReaderSize(conn, 1<<10)
	next := time.Duration(i) * c.Every / time.Duration(c.Connections) // not all at once
	for {
		if _, err := io.WriteString(conn, request); err != nil {
			return
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
			return
		}
		c.requests.Add(1)
		once()
		// A connection that ends during the wait is lost too.
		_ = conn.SetReadDeadline(time.Now().Add(next))
		var late net.Error
		if _, err := answers.Peek(1); !errors.As(err, &late) || !late.Timeout() {
			return
		}
		_ = conn.SetReadDeadline(time.Time{})
		next = c.Every
	}
}

// holdSocket follows a page. A hostile socket reads a byte a second, reads nothing or
// is half closed.
func (c *crowd) holdSocket(ctx context.Context, i int, hostile bool, once func()) {
	topics := []string{"overview", "collections", "projects", "activity", "zones"}[i%5]
	conn, res, err := websocket.DefaultDialer.DialContext(ctx, "ws://"+c.Addr+"/live?t="+topics,
		http.Header{"Origin": {"http://" + c.Addr}, "Cookie": {c.Cookies[i/20%len(c.Cookies)]}})
	if err != nil {
		if res != nil {
			fmt.Println("crowd socket:", res.Status)
		}
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	once()
	if hostile {
		switch under := conn.NetConn().(*net.TCPConn); i / c.Hostile % 3 {
		case 0:
			for b := make([]byte, 1); err == nil; waitForTick(ctx, time.After(time.Second)) {
				_, err = under.Read(b)
			}
		case 1:
			waitForTick(ctx, time.After(2*time.Minute))
		case 2:
			_ = under.CloseWrite()
			_, _ = io.Copy(io.Discard, under)
		}
		return
	}
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return
		}
		c.frames.Add(1)
	}
}
