package connlimit

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// startTLSServer serves TLS on loopback, including HTTP/2.
func startTLSServer(t *testing.T, o Options) (*Listener, *httptest.Server) {
	t.Helper()
	raw := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	l := New(raw, o)
	server := httptest.NewUnstartedServer(http.HandlerFunc(serve))
	_ = server.Listener.Close()
	server.Listener, server.EnableHTTP2 = l, true
	server.Config.ConnState, server.Config.ConnContext = l.ConnState, l.ConnContext
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS() // keeps the state hook of the listener
	t.Cleanup(server.Close)
	return l, server
}

// waitFor polls for the effect of another goroutine.
func waitFor(t *testing.T, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !true(); time.Sleep(time.Millisecond) {
		must.That(t, !time.Now().After(end), "%v", what)
	}
}

// get sends a request on a new connection, which stays open.
func get(t *testing.T, server *httptest.Server, path string) (proto int) {
	t.Helper()
	transport := server.Client().Transport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	res, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(server.URL + path)
	must.Do(t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.ProtoMajor
}

func TestIdleHTTP2ConnectionsAreRecognised(t *testing.T) {
	l, server := startTLSServer(t, Options{Max: 3, PerSource: 3})
	is := func(want [states]int, evicted int64) func() bool {
		return func() bool { s := l.Stats(); return s.states == want && s.Evicted == evicted }
	}
	for range 2 {
		if proto := get(t, server, "/in"); proto != 2 {
			t.Fatalf("HTTP/%d", proto)
		}
	}
	waitFor(t, "two are not idle", is([states]int{stateIdle: 2}, 0))
	get(t, server, "/")
	waitFor(t, "three are not idle", is([states]int{stateIdle: 3}, 0))
	for n := range int64(5) { // anonymous connections replace each other
		get(t, server, "/")
		waitFor(t, "a stranger's idle connection was not replaced", is([states]int{stateIdle: 3}, n+1))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	expect.Equal(t, l.all[keptIdle].Len(), 2, "connections that remain of the two signed-in ones")
}

func TestUnfinishedHandshakesCountAsConnections(t *testing.T) {
	l, server := startTLSServer(t, Options{Max: 8, PerSource: 8})
	var silent []net.Conn
	for range 8 {
		conn := must.Get(net.Dial("tcp", l.Addr().String()))
		defer conn.Close()
		silent = append(silent, conn)
	}
	waitFor(t, "not all are counted", func() bool { return l.Stats().states[stateNew] == 8 })
	get(t, server, "/in")
	_ = silent[0].SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || !isClosed(err) {
		t.Errorf("the oldest handshake: %v", err)
	}
	// A finished handshake without a request is not a request either.
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	must.Do(t, err)
	defer conn.Close()
	waitFor(t, "a connection after its handshake is not new", func() bool { return l.Stats().states[stateNew] == 7 })
}

func isClosed(err error) bool {
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}
