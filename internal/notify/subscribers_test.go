package notify

import (
	"testing"

	"shardboard/internal/fixture/expect"
)

func TestNotificationsAreJoinedAndNeverBlock(t *testing.T) {
	var s Subscribers
	s.Notify() // with nobody there
	a, endA := s.Subscribe()
	b, endB := s.Subscribe()
	defer endB()
	s.Notify()
	s.Notify()
	for name, c := range map[string]<-chan struct{}{"a": a, "b": b} {
		expect.That(t, len(c) == 1, "%s has %d notifications waiting after two, want 1", name, len(c))
		<-c
	}
	endA()
	endA() // twice does no harm
	s.Notify()
	if len(a) != 0 || len(b) != 1 {
		t.Errorf("after the end of a subscription: %d and %d notifications, want 0 and 1", len(a), len(b))
	}
	expect.Equal(t, len(s.chans), 1, "subscribers are kept")
}
