package engine

import (
	"testing"
	"time"
)

func TestAWaitBeginsAnewWhenTheClockIsSetBack(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := Backoff{
		Since: began,
		First: began.Add(-time.Minute),
		Next:  began.Add(time.Minute),
		Until: began.Add(15 * time.Minute),
		Pause: time.Minute,
	}
	for _, at := range []time.Time{began, began.Add(10 * time.Minute), began.Add(-time.Second), began.Add(24 * time.Hour)} {
		if got, anew := w.afterClockChange(at); anew || got.Until != w.Until {
			t.Errorf("at %s: %+v", at, got)
		}
	}
	at := began.Add(-24 * time.Hour)
	got, anew := w.afterClockChange(at)
	if !anew || got.Since != at || got.First != at || got.Next != at || got.Until != at.Add(15*time.Minute) || got.Pause != w.Pause {
		t.Errorf("%+v", got)
	}
	if again, anew := got.afterClockChange(at.Add(time.Minute)); anew {
		t.Errorf("it begins anew again: %+v", again)
	}
}
