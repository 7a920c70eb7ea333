package live_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/live"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestSlowBrowserIsClosedAndNobodyWaits(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		countDrawn(l, "overview")
		slow, _, err := l.Dial("t=overview")
		must.Do(t, err)
		defer func() { _ = slow.Close() }()
		quick := l.Open("t=overview")
		for range live.MaxQueuedFrame + 2 {
			publishNext(l)
			time.Sleep(110 * time.Millisecond) // all within the write deadline
		}
		got := quick.Frames()
		expect.That(t, len(got) == live.MaxQueuedFrame+3, "the quick browser has %d frames", len(got))
		expect.Equal(t, l.Hub.Sockets(), 1, "sockets open")
	})
}

func TestSilentlyLostBrowserIsNoticed(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		lost, _, err := l.Dial("t=overview") // never reads: no pong either
		must.Do(t, err)
		defer func() { _ = lost.Close() }()
		there := l.Open("t=overview")
		time.Sleep(10 * time.Minute)
		n := l.Hub.Sockets()
		expect.That(t, n == 1 && there.Ended() == nil, "%d sockets, %v", n, there.Ended())
	})
}

// Each ping costs an answer, and a browser sends none.
func TestSocketThatSendsTooMuchIsClosed(t *testing.T) {
	for what, send := range map[string]func(*websocket.Conn) error{
		"pings":    func(c *websocket.Conn) error { return c.WriteControl(websocket.PingMessage, nil, time.Time{}) },
		"pongs":    func(c *websocket.Conn) error { return c.WriteControl(websocket.PongMessage, nil, time.Time{}) },
		"messages": func(c *websocket.Conn) error { return c.WriteMessage(websocket.TextMessage, []byte("x")) },
	} {
		webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
			flood := func(pause time.Duration) (open int) {
				conn, _, err := l.Dial("t=overview")
				must.Do(t, err)
				defer func() { _ = conn.Close(); synctest.Wait() }()
				go func() {
					for {
						if _, _, err := conn.NextReader(); err != nil {
							return
						}
					}
				}()
				// The server pings at full seconds; on a pipe, which keeps nothing, two pings that
				// cross would block both readers.
				time.Sleep(250 * time.Millisecond)
				for range 3 * live.MaxReceived {
					if send(conn) != nil {
						break
					}
					time.Sleep(pause)
				}
				synctest.Wait()
				return l.Hub.Sockets()
			}
			expect.Equal(t, flood(0), 0, "%s: sockets are open after a flood", what)
			expect.Equal(t, flood(2*time.Second), 1, "%s: sockets are open after some", what)
		})
	}
}

func TestStatusComesOncePerPoll(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b := l.Open("t=zones")
		for range 5 {
			publishNext(l)
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		b.Mu.Lock()
		defer b.Mu.Unlock()
		n := len(b.Status)
		expect.That(t, n >= 5 && n <= 7, "%d frames in five polls", n)
		s := b.Status[0].Status
		expect.That(t, s.OK && s.At != nil && s.At.Equal(webtest.Epoch) && s.Age == 0 && s.Text != "", "%+v", s)
	})
}

func TestCloseSendsACloseFrameToEverySocket(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		var all []*webtest.Browser
		for range 20 {
			all = append(all, l.Open("t=overview,zones,activity"))
		}
		stuck, _, err := l.Dial("t=overview")
		must.Do(t, err)
		defer func() { _ = stuck.Close() }()
		start := time.Now()
		l.Close()
		took := time.Since(start)
		expect.That(t, took <= 2*live.Farewell, "took %v", took)
		for _, b := range all {
			var ce *websocket.CloseError
			err := b.Ended()
			expect.That(t, errors.As(err, &ce) && ce.Code == websocket.CloseGoingAway, "ended with %v", err)
		}
		_, res, err := l.Dial("t=overview")
		expect.That(t, err != nil && res != nil && res.StatusCode == http.StatusServiceUnavailable, "a socket after the end: %v", err)
		expect.Equal(t, l.Do("GET", "/healthz").Code, 200, "pages after the end")
	})
}

func TestPanicOrErrorInOneRegionLeavesTheOthersAlive(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		drawn := countDrawn(l, "overview")
		inner := l.Hub.Fragments
		l.Hub.Fragments = func(name string) (answer.FragmentFunc, bool) {
			switch name {
			case "zones":
				return func(context.Context, io.Writer, answer.View) error { panic("broken") }, true
			case "activity":
				return func(context.Context, io.Writer, answer.View) error { return errors.New("broken too") }, true
			case "projects":
				return func(context.Context, io.Writer, answer.View) error { return fault.New(fault.NotFound, "gone") }, true
			}
			return inner(name)
		}
		b := l.Open("t=zones,activity,projects,overview")
		for range 3 {
			publishNext(l)
			time.Sleep(time.Second)
		}
		topics := map[string]int{}
		for _, f := range b.Frames() {
			topics[f.Topic]++
			expect.That(t, f.Topic != "projects" || f.HTML == "", "%+v", f)
		}
		expect.That(t, topics["overview"] == 4 && topics["projects"] == 1 && topics["zones"]+topics["activity"] == 0 && drawn.Load() == 4,
			"%v", topics)
	})
}

func TestSocketThatSendsAMessageIsClosed(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		b := l.Open("t=overview")
		must.Do(t, b.Conn.WriteMessage(websocket.TextMessage, []byte(`{"subscribe":"zones"}`)))
		expect.That(t, b.Ended() == nil && len(b.Frames()) == 1, "after a short message: %v, %d frames", b.Ended(), len(b.Frames()))
		b.Conn.EnableWriteCompression(false) // the limit counts bytes of the connection
		_ = b.Conn.WriteMessage(websocket.TextMessage, []byte(strings.Repeat("x", live.ReadLimit+1)))
		expect.That(t, b.Ended() != nil, "still open after a long message")
	})
}

func TestSocketsAreLimited(t *testing.T) {
	for given, most := range map[int]int{0: live.DefaultSockets, 48: 48} {
		webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
			for range most {
				must.That(t, l.Hub.Admit(), "full too early")
			}
			_, res, err := l.Dial("t=overview")
			expect.That(t, err != nil && res.StatusCode == http.StatusServiceUnavailable, "one too many: %v", err)
			for range most {
				l.Hub.Release()
			}
			if b := l.Open("t=overview"); b.Ended() != nil {
				t.Error(b.Ended())
			}
		}, func(d *site.Deps) { d.Access.MaxSockets = given })
	}
}

func TestIdleTopicsAreBounded(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		for i := range 3 * live.MaxIdleTopics {
			l.Open(fmt.Sprintf("t=shard:%d", i)).Close()
		}
		l.Close() // so that the hub's own state may be read
		n := len(l.Hub.Topics)
		expect.That(t, n <= live.MaxIdleTopics, "%d topics remembered", n)
	})
}

func TestLargeRegionsAreReadAgainInstead(t *testing.T) {
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		l.Hub.Fragments = func(string) (answer.FragmentFunc, bool) {
			return func(_ context.Context, w io.Writer, v answer.View) error {
				_, err := io.WriteString(w, strings.Repeat("x", live.MaxFragment+1))
				return err
			}, true
		}
		f := l.Open("t=overview").Last(t)
		expect.That(t, f.HTML == "" && f.V != 0, "version %d with %d bytes", f.V, len(f.HTML))
	})
}

func TestTopicsAreParsed(t *testing.T) {
	s := webtest.New(t)
	for text, want := range map[string]map[string]uint64{
		"overview":                            {"overview": 0},
		"overview@12,zones@3":                 {"overview": 12, "zones": 3},
		"collection:a.b@7,":                   {"collection:a.b": 7},
		"collection:a.b%2Cc%40d%25@7":         {"collection:a.b,c@d%": 7},
		"collection:a.b@x":                    {"collection:a.b@x": 0},
		"shard:shard-rs-1,shard:shard-rs-1@9": {"shard:shard-rs-1": 9},
		"project:65e000000000000000000005":    {"project:65e000000000000000000005": 0},
		"activity@18446744073709551616":       nil, "run:abc": nil, "": nil, "project:nothex": nil,
		"collection:a.b%zz": nil,
	} {
		got, err := s.Hub.ParseTopics(map[string][]string{"t": {text}}, auth.Local())
		expect.That(t, (err == nil) == (want != nil) && (fmt.Sprint(got) == fmt.Sprint(want) || want == nil), "%q: %v %v", text, got, err)
		expect.That(t, err == nil || fault.Of(err) == fault.Invalid, "%q: %v", text, err)
	}
}
