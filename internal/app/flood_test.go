package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// flood is an attack that tries to keep the server from serving others. It runs until
// its context ends and returns when all of its connections are closed.
type flood struct {
	name string
	run  func(ctx context.Context, addr string)
}

const slowOnes = 300

var floods = []flood{
	{"headers that never end", func(ctx context.Context, addr string) {
		runParallel(slowOnes, func(i int) {
			sendSlowly(ctx, i, addr, "GET / HTTP/1.1\r\nHost: localhost\r\n", fmt.Sprintf("X-%d: a\r\n", i))
		})
	}},
	{"bodies that never end", func(ctx context.Context, addr string) {
		runParallel(slowOnes, func(i int) {
			sendSlowly(ctx, i, addr, "POST /api/v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
				"Content-Length: 200000\r\n\r\n{", " ")
		})
	}},
	{"bodies of 16 MB", func(ctx context.Context, addr string) {
		large := bytes.Repeat([]byte("x"), 16<<20)
		runParallel(4, func(int) {
			for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; {
				post(ctx, addr, "/api/v1/locate", bytes.NewReader(large))
				waitForTick(ctx, tick.C)
			}
		})
	}},
	{"sockets", func(ctx context.Context, addr string) {
		runParallel(slowOnes, func(int) {
			conn, _, err := websocket.DefaultDialer.DialContext(
				ctx,
				"ws://"+addr+"/live?t=overview,projects,collections",
				http.Header{"Origin": {"http://" + addr}},
			)
			if err != nil {
				return
			}
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			for {
				if _, _, err := conn.ReadMessage(); err != nil {
					return
				}
			}
		})
	}},
	{"connections that say nothing", func(ctx context.Context, addr string) {
		runParallel(slowOnes, func(i int) { sendSlowly(ctx, i, addr, "", "") })
	}},
}

func runParallel(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// sendSlowly opens connections and sends a little every second. The start depends on i,
// because clients that act at the same moment on the server's machine would cost more
// than what they do to the server.
func sendSlowly(ctx context.Context, i int, addr, first, again string) {
	waitForTick(ctx, time.After(time.Duration(i)*time.Second/slowOnes))
	for ctx.Err() == nil {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		_, err = io.WriteString(conn, first)
		for tick := time.NewTicker(time.Second); err == nil && ctx.Err() == nil; {
			waitForTick(ctx, tick.C)
			_, err = io.WriteString(conn, again)
		}
		stop()
		_ = conn.Close()
	}
}

func waitForTick(ctx context.Context, tick <-chan time.Time) {
	select {
	case <-ctx.Done():
	case <-tick:
	}
}

// post sends a body and reads the answer, if there is one.
func post(ctx context.Context, addr, path string, body io.Reader) {
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+path, body)
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
}

// requestAsOnePerson requests pages and data n times. Every answer must be correct.
func requestAsOnePerson(t *testing.T, d *demo, n int) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := range n {
		path := []string{"", "api/v1/cluster", "projects", "collections"}[i%4]
		must.That(t, statusOf(t, client, d.app.URL()+path) == http.StatusOK, "/%s is not answered", path)
	}
}

// during runs do while the flood is going on.
func (f flood) during(t *testing.T, addr string, do func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); f.run(ctx, addr) }()
	do()
	stop()
	<-over
}

func TestOtherClientsAreServedDuringFloods(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, f := range floods {
		f.during(t, d.app.Addr(), func() { requestAsOnePerson(t, d, 60) })
	}
}

func TestUnfinishedRequestHeadersTimeOut(t *testing.T) {
	only.Long(t, "waits for the header timeout")
	t.Parallel() // mostly waits
	d := startDemo(t, quietCluster(), topology.Options{})
	runParallel(50, func(int) {
		conn, err := net.Dial("tcp", d.app.Addr())
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * site.ReadHeaderTimeout)) // limits the test, not the server
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		_, err = io.Copy(io.Discard, conn)
		expect.That(t, err == nil || errors.Is(err, syscall.ECONNRESET), "the connection was not closed: %v", err)
	})
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "X-%d: aaaaaaaaaaaaaaaa\r\n", i)
	}
	conn, err := net.Dial("tcp", d.app.Addr())
	must.Do(t, err)
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n"+long.String()+"\r\n") }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	expect.That(t, err == nil && res.StatusCode == http.StatusRequestHeaderFieldsTooLarge,
		"headers of 80 kB are accepted: %v, %v", res, err)
}
