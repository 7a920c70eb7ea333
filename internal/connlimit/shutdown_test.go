package connlimit

import (
	"context"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
)

// Browsers open connections ahead of need; net/http alone waits five seconds for such a connection.
func TestAShutdownDoesNotWaitForConnectionsWithoutARequest(t *testing.T) {
	inBubble(t, Options{Max: 10, PerSource: 10}, func(h *testServer) {
		silent := h.connect("10.0.0.1")
		begin := time.Now()
		if err := h.http.Shutdown(context.Background()); err != nil || time.Since(begin) > time.Second {
			t.Errorf("the shutdown took %v, %v", time.Since(begin), err)
		}
		h.expect("after the shutdown", false, silent)
	})
}

func TestAShutdownWaitsForRequests(t *testing.T) {
	inBubble(t, Options{Max: 10, PerSource: 10}, func(h *testServer) {
		slow := h.connect("10.0.0.1").get("/slow")
		h.connect("10.0.0.2")
		begin := time.Now()
		if err := h.http.Shutdown(context.Background()); err != nil || time.Since(begin) < time.Minute {
			t.Errorf("the shutdown took %v, %v; the request takes a minute", time.Since(begin), err)
		}
		expect.Equal(t, slow.answerCount(), 1, "the request was not answered")
	})
}
