package live_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// A page without a socket is given what a socket would get at once, and nothing that it has. The log says once that a
// proxy passes no WebSockets.
func TestPagesWithoutASocketAsk(t *testing.T) {
	var log strings.Builder
	webtest.InBubble(t, func(t *testing.T, l *webtest.LiveServer) {
		drawn := countDrawn(l, "overview")
		ask := func(have uint64) (frames []webtest.Frame) {
			w := l.Do("GET", fmt.Sprintf("/live?t=overview@%d&poll=1", have))
			err := json.Unmarshal(w.Body.Bytes(), &frames)
			must.That(t, err == nil && w.Code == http.StatusOK && w.Header().Get("Cache-Control") == "no-store",
				"%d %v: %s", w.Code, err, w.Body)
			return frames
		}
		first := ask(0)
		must.That(t, len(first) == 2 && first[0].Status != nil && first[1].Topic == "overview" && first[1].HTML != "", "%+v", first)
		again := ask(first[1].V)
		expect.That(t, len(again) == 1 && again[0].Status != nil, "what the page has is sent again: %+v", again)
		publishNext(l)
		next := ask(first[1].V)
		expect.That(t, len(next) == 2 && next[1].V > first[1].V, "after a change: %+v", next)
		before := drawn.Load()
		publishNext(l)
		synctest.Wait()
		expect.That(t, drawn.Load() == before && l.Hub.Sockets() == 0,
			"%d sockets, drawn %d times for nobody", l.Hub.Sockets(), drawn.Load()-before)
		l.Hub.MaxSockets = 0
		expect.Equal(t, l.Do("GET", "/live?t=overview&poll=1").Code, http.StatusServiceUnavailable, "where a socket would be refused")
		l.Do("GET", "/live?t=overview", webtest.Header("Sec-WebSocket-Key", "x"))
		n := strings.Count(log.String(), "does not pass WebSockets")
		expect.That(t, n == 1 && !strings.Contains(log.String(), "status=426") && !strings.Contains(log.String(), "status=200"),
			"%d warnings:\n%s", n, &log)
	}, func(d *site.Deps) { d.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s := webtest.New(t, webtest.WithPeople)
	expect.Equal(t, s.Do("GET", "/live?t=overview&poll=1").Code, http.StatusUnauthorized, "nobody")
}
