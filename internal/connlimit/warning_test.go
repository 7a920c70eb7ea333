package connlimit

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func (h *testServer) logLines() []string {
	synctest.Wait() // a line may still be in progress
	text := strings.TrimSpace(h.log.String())
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func TestReachingTheLimitIsLoggedOnceAMinute(t *testing.T) {
	inBubble(t, Options{Name: "pages", Max: 10, PerSource: 5, Advice: "; advice"}, func(h *testServer) {
		flood := func(n int) {
			for i := range n {
				h.connect(fmt.Sprintf("192.0.2.%d", i%4)).get("/")
				time.Sleep(10 * time.Millisecond)
			}
		}
		flood(10)
		if got := h.logLines(); got != nil {
			t.Errorf("before the limit: %q", got)
		}
		flood(300) // three seconds
		if got := h.logLines(); len(got) != 1 || !strings.Contains(got[0], "level=WARN") || !strings.Contains(got[0], "closed=1 ") {
			t.Errorf("when the limit is reached: %q", got)
		}
		time.Sleep(time.Minute)
		got := h.logLines()
		must.That(t, len(got) == 2, "after a minute: %q", got)
		for _, part := range []string{"connection limit reached", "; advice", "listener=pages", "open=10", "max=10", "maxPerSource=5",
			"closed=299 ", "closedOfSource=0", "refused=0", "refusedOfSource=0", "busiestSource=192.0.2.", "busiestOpen=3"} {
			expect.Contains(t, got[1], part, "the second warning")
		}
		time.Sleep(10 * time.Minute)
		expect.Len(t, h.logLines(), 2, "when the flood is over")
		flood(20) // the next flood is logged at once again
		expect.Len(t, h.logLines(), 3, "at the next flood")
	})
}

func TestConnectionsAreCountedInMetrics(t *testing.T) {
	inBubble(t, Options{Name: "pages", Max: 4, PerSource: 2}, func(h *testServer) {
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(Metrics{h.l})
		h.connect("192.0.2.1").get("/in/slow")
		h.connect("192.0.2.1").get("/in/socket")
		h.connect("192.0.2.1")
		h.connect("192.0.2.2").get("/in")
		for range 3 {
			h.connect("192.0.2.3").get("/")
		}
		h.connect("192.0.2.4")
		want := `
# HELP shardboard_connections Open connections by what they are doing: new (no request yet), idle, active, socket.
# TYPE shardboard_connections gauge
shardboard_connections{listener="pages",state="active"} 1
shardboard_connections{listener="pages",state="idle"} 1
shardboard_connections{listener="pages",state="new"} 1
shardboard_connections{listener="pages",state="socket"} 1
# HELP shardboard_connections_evicted_total Connections that were closed to make room for new ones, by the bound that was reached: of all (total) or of one address (source).
# TYPE shardboard_connections_evicted_total counter
shardboard_connections_evicted_total{bound="source",listener="pages"} 0
shardboard_connections_evicted_total{bound="total",listener="pages"} 3
# HELP shardboard_connections_max Most connections that may be open (--max-connections).
# TYPE shardboard_connections_max gauge
shardboard_connections_max{listener="pages"} 4
# HELP shardboard_connections_refused_total New connections that were closed because there was no room and none could be made, by the bound that was reached.
# TYPE shardboard_connections_refused_total counter
shardboard_connections_refused_total{bound="source",listener="pages"} 1
shardboard_connections_refused_total{bound="total",listener="pages"} 0
`
		w := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		expect.Equal(t, w.Body.String(), strings.TrimPrefix(want, "\n"), "metrics")
	})
}
