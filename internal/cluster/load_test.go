package cluster

import (
	"testing"
	"time"
)

func TestLoadCountsTheLastMinuteOnly(t *testing.T) {
	var l load
	t0 := time.Unix(1_800_000_000, 0)
	for s := range 90 { // one a second for 90 seconds
		l.add(t0.Add(time.Duration(s) * time.Second))
	}
	if n := l.sum(t0.Add(89 * time.Second)); n != 60 {
		t.Errorf("%d commands in the last minute, want 60", n)
	}
	if n := l.sum(t0.Add(119 * time.Second)); n != 30 {
		t.Errorf("%d half a minute later, want 30", n)
	}
	if n := l.sum(t0.Add(time.Hour)); n != 0 {
		t.Errorf("%d an hour later, want 0", n)
	}
	l.add(t0.Add(time.Hour))
	l.add(t0) // the clock went back
	if n := l.sum(t0.Add(time.Hour)); n != 2 {
		t.Errorf("%d, want 2", n)
	}
}
