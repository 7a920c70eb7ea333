package app

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/web/site"
)

func TestConnectionsFitTheLimitOfOpenFiles(t *testing.T) {
	for _, tc := range []struct {
		wanted int
		files  uint64
		most   int
		says   string // in the error, or in the log
	}{
		{0, 20000, 1024, ""},
		{0, 0, 1024, ""},
		{0, 1 << 63, 1024, ""},
		{0, 1408, 1024, ""},
		{0, 1407, 1023, "1407 open files"},
		{0, 1024, 640, "at most 640 connections"},
		{0, 448, 64, "at most 64"},
		{0, 447, 0, "at least 448"},
		{64, 448, 64, ""},
		{64, 447, 0, "at most 63 connections"},
		{8000, 8384, 8000, ""},
		{8000, 8383, 0, "ulimit -n 8384"},
		{8000, 100, 0, "at most 0 connections"},
		{8000, 0, 8000, ""},
		{1_000_000, 1 << 63, 1_000_000, ""},
		{1_000_001, 1 << 63, 0, "not between 64 and 1000000"},
		{63, 20000, 0, "not between"},
		{-1, 20000, 0, "--max-connections -1"},
	} {
		var log bytes.Buffer
		most, err := fitConnections(tc.wanted, tc.files, slog.New(slog.NewTextHandler(&log, nil)))
		said := log.String()
		if err != nil {
			said += fault.Text(err)
		}
		expect.That(t, most == tc.most && (err != nil) == (tc.most == 0) && strings.Contains(said, tc.says) && (tc.says != "" || said == "") &&
			(err == nil || fault.Of(err) == fault.Invalid), "%d wanted of %d: %d, %q", tc.wanted, tc.files, most, said)
	}
	expect.That(t, CheckMaxConnections(0) != nil, "an invalid number of connections was accepted")
}

// Many people share the address of a proxy, so only the total limit applies to it. With TLS by a proxy on this machine,
// loopback counts as a proxy without an option, because all connections come through it and its idle ones must stay
// open.
func TestKnownProxiesHaveNoLimitPerAddress(t *testing.T) {
	for _, tc := range []struct {
		c    Config
		want []string
	}{
		{Config{}, nil},
		{Config{TLSByProxy: true}, []string{"127.0.0.0/8", "::1/128"}},
		{Config{Auth: Auth{ProxyCIDRs: []string{"192.0.2.0/28", "2001:db8::7"}}}, []string{"192.0.2.0/28", "2001:db8::7/128"}},
	} {
		tc.c.MaxConnections = 100
		bounds, err := tc.c.connectionBounds()
		must.Do(t, err)
		var got []string
		for _, p := range bounds.Proxies {
			got = append(got, p.String())
		}
		expect.That(t, slices.Equal(got, tc.want) && bounds.Max == 100 && bounds.PerSource == 25 && bounds.StrangerIdle == site.StrangerIdle,
			"%+v: %+v", tc.c, bounds)
	}
}

// holdConnection sends one request on a new connection, which stays open.
func holdConnection(t *testing.T, a *App) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", a.Addr())
	must.Do(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(conn, "GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.That(t, err == nil, "a new connection is not answered:  %v", err)
	_, _ = io.Copy(io.Discard, res.Body)
	must.That(t, res.StatusCode == http.StatusOK, "%v", res.Status)
	return conn
}

// 1,100 anonymous connections stay open. Without a limit for them every new connection
// would be reset for two minutes.
func TestIdleAnonymousConnectionsDoNotBlockSignedInPeople(t *testing.T) {
	only.Long(t, "starts a whole demo")
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", MaxConnections: minConnections, Auth: Auth{Mode: "local"}})
	anna := sessionClient(t)
	_, cookies := firstSignIn(t, a, anna, a.URL())
	if got := statusOf(t, anna, a.URL()); got != http.StatusOK {
		t.Fatal(got)
	}
	socket, _, err := websocket.DefaultDialer.Dial("ws://"+a.Addr()+"/live?t=overview",
		http.Header{"Origin": {strings.TrimRight(a.URL(), "/")}, "Cookie": {cookies[0].Name + "=" + cookies[0].Value}})
	must.Do(t, err)
	defer socket.Close()
	for range 3 * minConnections {
		holdConnection(t, a)
	}
	expect.Equal(t, statusOf(t, anna, a.URL()), http.StatusOK, "a signed-in person")
	late := &http.Client{Jar: anna.Jar, Timeout: time.Minute, Transport: &http.Transport{}}
	defer late.CloseIdleConnections()
	expect.Equal(t, statusOf(t, late, a.URL()), http.StatusOK, "a signed-in person's new connection")
	if err := answersPing(socket); err != nil {
		t.Fatal("the live socket does not answer: ", err)
	}
	_, _, got := visit(t, anna, a.URL()+"metrics")
	for _, line := range []string{`shardboard_connections_max{listener="pages"} 64`, `shardboard_connections{listener="pages",state="socket"} 1`,
		`shardboard_connections_refused_total{bound="total",listener="pages"} 0`} {
		expect.Contains(t, got, line+"\n", "the metrics")
	}
	s := a.listener.Stats()
	expect.That(t, s.Refused == 0 && s.Evicted >= 2*minConnections-10, "%d evicted, %d refused", s.Evicted, s.Refused)
}

// answersPing returns an error unless the server still reads and writes a socket.
func answersPing(socket *websocket.Conn) error {
	_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
	answered := errors.New("answered")
	socket.SetPongHandler(func(string) error { return answered })
	if err := socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Minute)); err != nil {
		return err
	}
	for {
		if _, _, err := socket.ReadMessage(); errors.Is(err, answered) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
