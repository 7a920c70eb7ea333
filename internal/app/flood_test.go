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
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

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
			sendSlowly(
				ctx,
				i,
				addr,
				"POST /api/v1/locate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{",
				" ",
			)
		})
	}},
	{"bodies of 16 MB", func(ctx context.Context, addr string) {
		large := bytes.Repeat([]byte("x"), 16<<20)
		runParallel(4, func(int) {
			for tick := time.NewTicker(50 * time.Millisecond); ctx.Err() == nil; {
				_, _ = post(ctx, addr, "/api/v1/locate", bytes.NewReader(large))
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

func post(ctx context.Context, addr, path string, body io.Reader) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+path, body)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if path == "/locate/bulk" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// timeRequests requests pages and data n times, like one person, and returns how long
// each took. Every answer must be correct.
func timeRequests(t *testing.T, d *demo, n int) []time.Duration {
	t.Helper()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	took := make([]time.Duration, n)
	for i := range took {
		path := []string{"", "api/v1/cluster", "projects", "collections"}[i%4]
		start := time.Now()
		res, err := client.Get(d.app.URL() + path)
		if err != nil {
			t.Fatalf("/%s: %v", path, err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if took[i] = time.Since(start); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("/%s: %s, %v", path, res.Status, err)
		}
	}
	return took
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
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	for _, f := range floods {
		f.during(t, d.app.Addr(), func() { timeRequests(t, d, 60) })
	}
}

func TestLargeBodiesAreRefusedWithoutReadingThem(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a whole demo")
	}
	d := startDemo(t, quietCluster(), topology.Options{})
	for path, want := range map[string]int{"/api/v1/locate": 413, "/locate/bulk": 413, "/api/v1/checks/duplicates": 413,
		"/nothing": 404, "/": 405} {
		sent := &countingBody{}
		sent.left.Store(16 << 20)
		status, err := post(t.Context(), d.app.Addr(), path, sent)
		// The server closes a connection whose body it does not read to the end, and a
		// client that is still sending may see that before the answer.
		if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", path, err)
		}
		if err == nil && status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
		if left := sent.left.Load(); left < 8<<20 {
			t.Errorf("%s: %d bytes were read", path, 16<<20-left)
		}
	}
}

// countingBody is a body of unknown length that counts how much was read. Reads can
// continue for a moment after the answer.
type countingBody struct{ left atomic.Int64 }

func (c *countingBody) Read(b []byte) (int, error) {
	n := min(len(b), int(c.left.Load()))
	if n == 0 {
		return 0, io.EOF
	}
	for i := range n {
		b[i] = ' '
	}
	c.left.Add(-int64(n))
	return n, nil
}

func TestUnfinishedRequestHeadersTimeOut(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the header timeout")
	}
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
		if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the connection was not closed: %v", err)
		}
	})
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "X-%d: aaaaaaaaaaaaaaaa\r\n", i)
	}
	conn, err := net.Dial("tcp", d.app.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n"+long.String()+"\r\n") }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers of 80 kB are accepted: %v, %v", res, err)
	}
}

// During a flood, the p99 of other requests rises by at most half, and memory stays
// bounded. The flood runs on the same machine, so each figure is the median of several
// rounds.
func TestFloodsBarelySlowOtherClients(t *testing.T) {
	if os.Getenv("SHARDBOARD_FLOOD") == "" {
		t.Skip("measures, which needs the machine alone: with SHARDBOARD_FLOOD=1 (make long)")
	}
	const rounds, asked, most = 7, 800, 1.5
	const memory = 64 << 20
	d := startDemo(t, quietCluster(), topology.Options{})
	timeRequests(t, d, asked) // warm
	for _, f := range floods {
		var ratios []float64
		grown := uint64(0)
		calm, before := p99(timeRequests(t, d, asked)), heap()
		for range rounds {
			var flooded time.Duration
			f.during(t, d.app.Addr(), func() {
				waitForTick(t.Context(), time.After(1500*time.Millisecond)) // until all connections are open
				flooded = p99(timeRequests(t, d, asked))
				if now := heap(); now > before {
					grown = max(grown, now-before)
				}
			})
			// Other load of the machine varies, so the flood is compared with calm
			// periods before and after it.
			after := p99(timeRequests(t, d, asked))
			ratios = append(ratios, 2*float64(flooded)/float64(calm+after))
			calm = after
		}
		slices.Sort(ratios)
		t.Logf(
			"%-30s p99 × %.2f (%.2f to %.2f) of %v, %d MiB more memory",
			f.name,
			ratios[rounds/2],
			ratios[0],
			ratios[rounds-1],
			calm,
			grown>>20,
		)
		if ratios[rounds/2] > most {
			t.Errorf("%s: p99 is %.2f times the p99 without a flood", f.name, ratios[rounds/2])
		}
		if grown > memory {
			t.Errorf("%s: memory grew by %d bytes", f.name, grown)
		}
	}
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)*99/100]
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
