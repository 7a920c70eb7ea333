package app

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
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
	// Each is read from the beginning, so that pings of before the reload are not taken for later ones.
	type reader struct {
		pings atomic.Int64
		ended chan error
	}
	var veras [3]*reader
	for i := range veras {
		socket, r := open("vera"), &reader{ended: make(chan error, 1)}
		veras[i] = r
		socket.SetPingHandler(func(string) error { r.pings.Add(1); return nil })
		_ = socket.SetReadDeadline(time.Now().Add(settledWithin))
		go func() {
			var err error
			for err == nil {
				_, _, err = socket.ReadMessage()
			}
			r.ended <- err
		}()
	}
	prod.Roles = auth.ClusterRoles{"user:vera": "none"}
	f.reload(t, prod)
	var before [3]int64
	for i, vera := range veras {
		before[i] = vera.pings.Load()
	}
	atOnce := 0
	for i, vera := range veras {
		err := <-vera.ended
		if closed, is := err.(*websocket.CloseError); !is || closed.Code != live.CloseEnded {
			t.Error(err)
		}
		if vera.pings.Load() == before[i] { // the turn of one may come in this moment
			atOnce++
		}
	}
	expect.That(t, atOnce != 0, "the sockets were found by their next turn")
	_ = adam.SetReadDeadline(time.Now().Add(settledWithin))
	_, _, err := adam.ReadMessage()
	expect.NoError(t, err, "the socket of an admin")
}
