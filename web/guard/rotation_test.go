package guard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/live"
	"shardboard/web/webtest"
)

// changeRole changes what an account may, by an admin.
func changeRole(d *webtest.AccountServer, name string, role auth.Role) {
	d.T.Helper()
	must.Do(d.T, d.Service.SetRole(d.T.Context(), auth.Principal{ID: "user:root", Role: auth.Admin}, name, role))
}

// What rotates may be the very request that signs out or in again: then the
// browser ends up with that one's cookie and no other session is left.
func TestRequestThatRotatesAndSignsOutOrInLeavesOneSessionOrNone(t *testing.T) {
	for path, form := range map[string][]string{"/logout": nil, "/login": {"name", "viewer", "password", webtest.GoodPassword}} {
		door := webtest.NewAccountServer(t)
		changeRole(door, "viewer", auth.Operator)
		w := door.Ask(door.Handler(), "POST", path, webtest.Form(form...), door.With("viewer"))
		cookies := w.Result().Cookies()
		must.That(t, w.Code == http.StatusSeeOther && len(cookies) == 1 && (path == "/logout") == (cookies[0].MaxAge < 0),
			"%s: %d %v", path, w.Code, cookies)
		list, err := door.Service.Sessions(t.Context(), auth.Principal{ID: "user:root", Role: auth.Admin})
		left := 0
		for _, s := range list {
			if s.Name == "viewer" {
				left++
			}
		}
		expect.That(t, left == len(form)/4 && err == nil, "%s: %d sessions are left, %v", path, left, err)
	}
}

func TestASocketOfAChangedRoleClosesAndTheNextOneBringsTheCookie(t *testing.T) {
	door := webtest.NewAccountServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- door.Run(ctx) }()
	server := httptest.NewServer(door.Handler())
	t.Cleanup(func() {
		door.Close()
		cancel()
		<-ran
		server.Close()
	})
	dial := func(c *http.Cookie) (*websocket.Conn, *http.Response) {
		conn, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/live?t=overview",
			http.Header{"Origin": {server.URL}, "Cookie": {c.Name + "=" + c.Value}})
		must.That(t, err == nil || res != nil, "%v", err)
		return conn, res
	}
	var conn *websocket.Conn
	for conn == nil { // until the hub runs
		conn, _ = dial(door.Cookies["viewer"])
	}
	changeRole(door, "viewer", auth.Support)
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			expect.Equal(t, webtest.CloseCode(err), live.CloseEnded, "closed by %v", err)
			break
		}
	}
	again, res := dial(door.Cookies["viewer"])
	must.That(t, again != nil && len(res.Cookies()) == 1, "%v", res)
	defer again.Close()
	code := res.StatusCode
	expect.That(t, code == http.StatusSwitchingProtocols, "%d", code)
	door.Cookies["viewer"] = res.Cookies()[0]
	p := door.Principal("viewer")
	expect.Equal(t, p.Role, auth.Support, "the cookie of the handshake is of %+v", p)
	plain, res := dial(door.Cookies["viewer"])
	expect.That(t, plain != nil && len(res.Cookies()) == 0, "a handshake that rotates nothing: %v", res)
	_ = plain.Close()
}
