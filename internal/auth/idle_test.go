package auth

import (
	"testing"
	"time"
)

func TestAShortIdleTimeoutKeepsUsedSessions(t *testing.T) {
	h := newFixture(t, func(o *Options) { o.Idle = 4 * time.Second })
	h.add(t, "anna", Viewer)
	c, _ := h.in(t, "anna")
	for i := range 20 {
		h.pass(time.Second)
		if _, err := h.who(c); err != nil {
			t.Fatalf("used each second, it ended after %d s: %v", i+1, err)
		}
	}
	h.pass(4 * time.Second)
	got, err := h.who(c)
	isNobody(t, "unused", got, err)
}
