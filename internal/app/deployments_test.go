package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// These are of docs/evidence.md, where no test of the part itself is about the whole.

// An issuer changes its key while shardboard runs: who signs in next is signed in.
func TestTheKeyOfTheIssuerMayChangeAtAnyTime(t *testing.T) {
	i := newIssuerServer(t, "oncall")
	i.Start()
	a := stillDemo().startBeside(t, Config{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Auth: Auth{Mode: "oidc",
		OIDC: OIDC{Issuer: i.URL, ClientID: "board", Roles: map[string]string{"oncall": "operator"}}}})
	for range 2 {
		status, path, body := clickOIDC(t, newCookieClient(t), a.URL(), "/zones")
		must.That(t, status == http.StatusOK && path == "/zones", "%d at %s: %.300s", status, path, body)
		i.rotate(t)
	}
}

func TestPagesAreServedOverIPv6(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		t.Skip("this machine has no IPv6")
	} else {
		l.Close()
	}
	a := stillDemo().startBeside(t, Config{Listen: "[::1]:0", OpsListen: "[::1]:0", Auth: Auth{Mode: "none"}})
	for _, address := range []string{a.URL() + "zones", a.OpsURL() + "/healthz"} {
		res, err := http.Get(address)
		must.Do(t, err)
		res.Body.Close()
		expect.That(t, res.StatusCode == http.StatusOK && strings.HasPrefix(address, "http://[::1]:"), "%s: %s", address, res.Status)
	}
}

// Names that nobody resolves yet are no reason not to start: pages say so, and health is good.
func TestTheNameOfTheClusterNeedNotResolveAtTheStart(t *testing.T) {
	uri := must.Get(cluster.ParseURI("mongodb://mongos.nowhere.invalid:27017/"))
	a, err := New(t.Context(), Config{URI: uri, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Auth: Auth{Mode: "none"}})
	must.Do(t, err)
	a.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		expect.NoError(t, a.Stop(ctx), "Stop")
	})
	get := func(path string) (status int, body string) {
		res, err := http.Get(a.URL() + path)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		expect.That(t, err == nil, "%v", err)
		return res.StatusCode, string(text)
	}
	status, body := get("healthz")
	expect.That(t, status == http.StatusOK, "health is %d: %s", status, body)
	says := func() bool { _, body := get(""); return strings.Contains(body, "The cluster is not reached") }
	if !eventually(settledWithin, says) {
		_, body := get("")
		t.Errorf("the overview does not say that the cluster is not reached: %s", body)
	}
}

// A stop, as by SIGTERM, ends open sockets with a close frame and does not wait for who holds them.
func TestAStopEndsOpenSockets(t *testing.T) {
	d := stillDemo()
	c := Config{URI: d.config.URI, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Auth: Auth{Mode: "none", Cost: auth.Cost{}}}
	a, err := New(t.Context(), c)
	must.Do(t, err)
	a.Start()
	var conn *websocket.Conn
	opens := func() bool { // what takes sockets may begin after the pages
		conn, _, err = websocket.DefaultDialer.Dial("ws://"+a.Addr()+"/live?t=zones", http.Header{"Origin": {"http://" + a.Addr()}})
		return err == nil
	}
	must.That(t, eventually(settledWithin, opens), "%v", err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	expect.NoError(t, a.Stop(ctx), "Stop")
	for {
		if _, _, err = conn.ReadMessage(); err != nil {
			break
		}
	}
	expect.That(t, websocket.IsCloseError(err, websocket.CloseGoingAway), "%v", err)
}
