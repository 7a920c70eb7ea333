package auth

import (
	"testing"
	"time"
)

func TestAShortIdleTimeoutKeepsUsedSessions(t *testing.T) {
	h := newFixture(t, func(o *Options) { o.Idle = 4 * time.Second })
	h.add(t, "anna", Viewer)
	c, _ := h.signIn(t, "anna")
	for i := range 20 {
		h.advance(time.Second)
		if _, err := h.identify(c); err != nil {
			t.Fatalf("used each second, it ended after %d s: %v", i+1, err)
		}
	}
	h.advance(4 * time.Second)
	got, err := h.identify(c)
	expectAnonymous(t, "unused", got, err)
}
