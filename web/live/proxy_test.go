package live_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/live"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// vouched is claimed sign-in in which a proxy says who people are, unless they
// are called anna.
type vouched struct{ webtest.PeopleByHeader }

func (v vouched) Identify(w http.ResponseWriter, r *http.Request) (auth.Principal, error) {
	p, err := v.PeopleByHeader.Identify(w, r)
	if err == nil && p.Name != "anna" {
		p.ID, p.Method, p.Session = "proxy:"+p.Name, auth.ByProxy, ""
	}
	return p, err
}

func (vouched) AfterEnd(auth.Principal, func()) func() { return func() {} }

func TestSocketsOfProxyUsersReconnectEachMinute(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b, _ := l.OpenAs("vera viewer", "t=overview")
		anna, _ := l.OpenAs("anna admin", "t=overview")
		time.Sleep(live.VouchedFor - time.Second)
		synctest.Wait()
		must.That(t, b.Ended() == nil, "closed early: %v", b.Ended())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if code := webtest.CloseCode(b.Ended()); code != websocket.CloseGoingAway { // as of a restart: the page comes back by itself
			t.Errorf("closed with %d, %v", code, b.Ended())
		}
		expect.NoError(t, anna.Ended(), "a session's socket is closed too")
		again, res := l.OpenAs("vera viewer", "t=overview")
		expect.That(t, again != nil, "the way back is shut: %v", res)
		refused, _ := l.OpenAs("", "t=overview")
		expect.That(t, refused == nil, "whom the proxy does not let through any more comes back")
	}, func(d *site.Deps) { d.Access.Auth = vouched{} })
}
