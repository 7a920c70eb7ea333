package app

import (
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/must"
	"shardboard/web/live"
)

// A reload that takes somebody's role on a cluster away closes their sockets at once: no turn of checking comes before,
// which would show as a ping. Those who keep their role keep their sockets.
func TestARoleThatAReloadTakesAwayClosesSockets(t *testing.T) {
	prod := ClusterConfig{Name: "prod", URI: simulated(t, 1), Settings: "1"}
	f := startFleet(t, prod)
	prod = f.app.config.Clusters[0]
	open := func(who string) *websocket.Conn {
		head := http.Header{"Cookie": {f.cookies[who].String()}, "Origin": {"http://" + f.app.Addr()}}
		socket, _, err := websocket.DefaultDialer.Dial("ws://"+f.app.Addr()+"/c/prod/live?t=zones", head)
		must.Do(t, err)
		t.Cleanup(func() { _ = socket.Close() })
		return socket
	}
	adam := open("adam")
	var veras [3]*websocket.Conn
	for i := range veras {
		veras[i] = open("vera")
	}
	prod.Roles = auth.ClusterRoles{"user:vera": "none"}
	f.reload(t, prod)
	atOnce := 0
	for _, vera := range veras {
		pings := 0
		vera.SetPingHandler(func(string) error { pings++; return nil })
		_ = vera.SetReadDeadline(time.Now().Add(settledWithin))
		var err error
		for err == nil {
			_, _, err = vera.ReadMessage()
		}
		if closed, is := err.(*websocket.CloseError); !is || closed.Code != live.CloseEnded {
			t.Error(err)
		}
		if pings == 0 { // the turn of one may come in this moment
			atOnce++
		}
	}
	if atOnce == 0 {
		t.Error("the sockets were found by their next turn")
	}
	_ = adam.SetReadDeadline(time.Now().Add(settledWithin))
	if _, _, err := adam.ReadMessage(); err != nil {
		t.Errorf("the socket of an admin: %v", err)
	}
}
