package live_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/guard"
	"shardboard/web/live"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// ending is claimed sign-in whose sessions a test can end.
type ending struct {
	webtest.PeopleByHeader
	mu     sync.Mutex
	after  map[string][]func()
	gone   map[string]error
	checks int
	passed func() // what happens right after somebody was let in, once
}

func newEnding() *ending {
	return &ending{after: map[string][]func(){}, gone: map[string]error{}}
}

func (e *ending) AfterEnd(p auth.Principal, f func()) func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.after[p.ID] = append(e.after[p.ID], f)
	return func() {}
}

func (e *ending) Check(_ context.Context, p auth.Principal) error {
	e.mu.Lock()
	e.checks++
	err, passed := e.gone[p.ID], e.passed
	e.passed = nil
	e.mu.Unlock()
	if passed != nil {
		passed()
	}
	return err
}

// end is what this process knows at once; forget what only a check finds.
func (e *ending) end(id string) {
	e.forget(id, auth.ErrNobody)
	e.mu.Lock()
	all := e.after[id]
	e.mu.Unlock()
	for _, f := range all {
		f()
	}
}

func (e *ending) forget(id string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone[id] = err
}

func TestSocketIsRefusedBeforeTheUpgrade(t *testing.T) {
	who := newEnding()
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		for _, name := range []string{"", "anna stranger"} {
			want := map[string]int{"": http.StatusUnauthorized, "anna stranger": http.StatusForbidden}[name]
			b, res := l.OpenAs(name, "t=overview")
			expect.That(t, b == nil && res != nil && res.StatusCode == want && res.Header.Get("Upgrade") == "", "%q: %v", name, res)
		}
		who.forget("user:vera", auth.ErrNobody) // ended between the door and the upgrade
		b, res := l.OpenAs("vera viewer", "t=overview")
		expect.That(t, b == nil && res.StatusCode == http.StatusUnauthorized, "%v", res)
		expect.Equal(t, l.Hub.Sockets(), 0, "sockets")
	}, func(d *site.Deps) { d.Access.Auth = who })
}

func TestSocketsOfAnEndedSessionCloseWithinASecond(t *testing.T) {
	who := newEnding()
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		var hers []*webtest.Browser
		for range 3 {
			b, _ := l.OpenAs("anna admin", "t=overview,zones")
			hers = append(hers, b)
		}
		// One of her browsers hangs: it reads nothing, so its writer is stuck.
		d := websocket.Dialer{NetDialContext: l.Pipes.Dial}
		stuck, _, err := d.Dial("ws://localhost:8090/live?t=overview", http.Header{"X-Test-Who": {"anna admin"}})
		must.Do(t, err)
		defer func() { _ = stuck.Close() }()
		another, _ := l.OpenAs("vera viewer", "t=overview")
		publishNext(l)
		start := time.Now()
		who.end("user:anna")
		time.Sleep(time.Second)
		synctest.Wait()
		for _, b := range hers {
			code := webtest.CloseCode(b.Ended())
			expect.That(t, code == live.CloseEnded, "closed with %d, %v", code, b.Ended())
		}
		n := l.Hub.Sockets()
		expect.That(t, n == 1 && another.Ended() == nil, "%d sockets %s after the end; another's: %v", n, time.Since(start), another.Ended())
	}, func(d *site.Deps) { d.Access.Auth = who })
}

func TestSocketsAreCheckedAtOnceWhenRolesChange(t *testing.T) {
	who := newEnding()
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b, _ := l.OpenAs("anna admin", "t=overview")
		synctest.Wait()
		who.forget("user:anna", auth.ErrNobody)
		l.Hub.CheckAll()
		synctest.Wait()
		code := webtest.CloseCode(b.Ended())
		expect.That(t, code == live.CloseEnded, "closed with %d, %v", code, b.Ended())
	}, func(d *site.Deps) { d.Access.Auth = who })
}

// A role that changes between the door and the hub is not noticed by the check of those who are there.
func TestASocketThatJoinsAfterRolesChangedIsCheckedAgain(t *testing.T) {
	who := newEnding()
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		who.passed = func() {
			who.forget("user:anna", auth.ErrNobody)
			l.Hub.CheckAll()
			time.Sleep(time.Millisecond) // the hub has checked all that it has
		}
		b, _ := l.OpenAs("anna admin", "t=overview")
		synctest.Wait()
		code := webtest.CloseCode(b.Ended())
		expect.That(t, code == live.CloseEnded, "closed with %d, %v", code, b.Ended())
	}, func(d *site.Deps) { d.Access.Auth = who })
}

func TestSocketsAreCheckedAgainWithinAMinute(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{{auth.ErrNobody, live.CloseEnded}, {errors.New("store is away"), websocket.CloseGoingAway}} {
		who := newEnding()
		webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
			b, _ := l.OpenAs("anna admin", "t=overview")
			time.Sleep(5 * time.Minute)
			must.That(t, b.Ended() == nil && who.checks >= 6, "%v after %d checks", b.Ended(), who.checks)
			who.forget("user:anna", c.err) // by another process: nothing is told
			time.Sleep(time.Minute)
			expect.Equal(t, webtest.CloseCode(b.Ended()), c.code, "the code at the end")
		}, func(d *site.Deps) { d.Access.Auth = who })
	}
}

func TestOnePersonHasTwentySockets(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		var all []*webtest.Browser
		for i := range guard.MaxSocketsEach {
			b, res := l.OpenAs("anna admin", "t=overview")
			must.That(t, b != nil, "socket %d: %v", i, res)
			all = append(all, b)
		}
		b, res := l.OpenAs("anna admin", "t=overview")
		expect.That(t, b == nil && res.StatusCode == http.StatusTooManyRequests, "one more is let in")
		b, _ = l.OpenAs("vera viewer", "t=overview")
		expect.That(t, b != nil, "another is refused")
		all[0].Close()
		b, _ = l.OpenAs("anna admin", "t=overview")
		expect.That(t, b != nil, "refused after one was closed")
		expect.Equal(t, len(l.Guard.Limits.Sockets), 2, "people counted")
	}, webtest.WithPeople)
}
