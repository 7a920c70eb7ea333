package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// lineWriter hands over what is written.
type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// watched is a server whose list of shards a test changes.
type watched struct {
	shards atomic.Int64
	down   atomic.Bool
	asked  atomic.Int64
	seen   chan struct{} // has a value for each request; nil if nobody looks
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.asked.Add(1)
	select {
	case s.seen <- struct{}{}:
	default:
	}
	if s.down.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	tag := fmt.Sprintf(`"%d"`, s.shards.Load())
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	var items []string
	for i := range s.shards.Load() {
		items = append(items, fmt.Sprintf(`{"name":"shard-%d\u001b[2J"}`, i+1))
	}
	fmt.Fprintf(w, `{"items":[%s],"next":null,"asOf":"2026-03-01T12:00:00.%03dZ","stale":false}`, strings.Join(items, ","), n)
}

// watching runs --watch over a server; end is Ctrl-C and returns the exit error.
func watching(t *testing.T, s *watched, output string, out terminal) (stdout, stderr lineWriter, end func() error) {
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	remote, err := app.ReadRemote(web.URL, "", "")
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr = make(lineWriter, 100), make(lineWriter, 100)
	r, _ := resourceNamed("shards")
	c := getResource{resource: r, getFlags: getFlags{Output: output, Watch: true, Interval: time.Second}}
	q, err := c.query(time.Now())
	must.Do(t, err)
	e := &env{ctx: ctx, stdout: stdout, stderr: stderr, out: out}
	o := &watch{env: e, source: source{remote: remote}, query: q, every: 5 * time.Millisecond, to: q.changes(e, 2*time.Second)}
	done := make(chan error, 1)
	go func() { done <- o.run() }()
	return stdout, stderr, func() error { cancel(); return <-done }
}

func TestWatchPrintsALineOfJSONForEachChange(t *testing.T) {
	s := &watched{seen: make(chan struct{})}
	s.shards.Store(1)
	stdout, stderr, end := watching(t, s, "table", terminal{})
	got := <-stdout
	expect.That(t, strings.HasPrefix(got, `{"items":[{"name":"shard-1\u001b[2J"}],`) && strings.Count(got, "\n") == 1, "first: %q", got)
	for range 3 { // the same answer is no news
		<-s.seen
	}
	s.down.Store(true) // restarts
	expect.Contains(t, <-stderr, "Trying again", "while it is down")
	s.shards.Store(2)
	s.down.Store(false)
	expect.Contains(t, <-stdout, `"shard-2`, "the second line")
	expect.Contains(t, <-stderr, "answers again", "after that")
	expect.NoError(t, end(), "Ctrl-C")
	expect.That(t, len(stdout) == 0 && len(stderr) == 0, "%d and %d more lines", len(stdout), len(stderr))
}

func TestWatchRedrawsTheTable(t *testing.T) {
	s := &watched{}
	s.shards.Store(40)
	stdout, _, end := watching(t, s, "table", terminal{tty: true, width: 60, height: 10})
	first := <-stdout
	if !strings.HasPrefix(first, "\x1b[2J\x1b[Hshards, every ") || strings.Count(first, "\n") > 9 || !strings.Contains(first, "more lines") {
		t.Errorf("first: %q", first)
	}
	expect.Lacks(t, strings.TrimPrefix(first, "\x1b[2J"), "\x1b[2J", "a name of the cluster clears the screen")
	s.shards.Store(1)
	second := <-stdout
	expect.That(t, strings.HasPrefix(second, "\x1b[Hshards, every ") && strings.HasSuffix(second, "\x1b[J") &&
		strings.Contains(second, "shard-1"), "second: %q", second)
	must.Do(t, end())
}

func TestWatchSaysHowOldTheTableIs(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r, _ := resourceNamed("shards")
	q := query{resource: r, question: question(r.list), output: "table"}
	s := screen{env: &env{stdout: &out, out: terminal{tty: true, width: 80, height: 10}}, query: q, every: 2 * time.Second,
		now: func() time.Time { return now }}
	step := func(why string) string {
		out.Reset()
		must.Do(t, s.waits(why))
		return out.String()
	}
	must.Do(t, s.changed(&listPage{items: []json.RawMessage{[]byte(`{"name":"shard-1"}`)}}, nil))
	if got := step(""); !strings.Contains(got, "shards, every 2s; changed just now, at 12:00:00 UTC.") || !strings.Contains(got, "shard-1") {
		t.Errorf("%q", got)
	}
	expect.Equal(t, step(""), "", "the same is drawn again")
	now = now.Add(3 * time.Minute)
	got := step("No server answers.")
	expect.That(t, strings.Contains(got, "changed 3 min ago") &&
		strings.Contains(got, "NO ANSWER since 12:03:00 UTC, just now: No server answers.") && strings.Contains(got, "shard-1"), "%q", got)
	now = now.Add(10 * time.Second)
	expect.Contains(t, step("No server answers."), "since 12:03:00 UTC, 10 s ago", "the text")
	expect.Lacks(t, step(""), "NO ANSWER", "the text")
}

func TestWatchWritesRowsOfCSVThatAreNewOrChanged(t *testing.T) {
	s := &watched{}
	s.shards.Store(2)
	stdout, _, end := watching(t, s, "csv", terminal{})
	got := <-stdout
	expect.That(t, strings.HasPrefix(got, "name,") && strings.Count(got, "\n") == 3, "first: %q", got)
	s.shards.Store(3)
	got = <-stdout
	expect.That(t, strings.HasPrefix(got, "shard-3") && strings.Count(got, "\n") == 1, "second: %q", got)
	expect.NoError(t, end(), "Ctrl-C")
}

func TestAReaderThatLeftIsNoError(t *testing.T) {
	must.Do(t, ended(fmt.Errorf("write: %w", &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE})))
	err := ended(fmt.Errorf("ask: %w", &net.OpError{Op: "write", Err: syscall.EPIPE}))
	expect.That(t, err != nil, "a broken connection to the server is taken for a reader that left")
}
