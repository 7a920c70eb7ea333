package alert

import (
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
)

// A problem and what follows from it are one alert: a silence of either holds for it.
func TestASilenceOfAConsequenceHoldsForItsCause(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a := &Alert{Notice: Notice{ID: "hot-project.1", Rule: "hot-project", Also: []Also{{ID: "hot-shard.2", Rule: "hot-shard"}}}}
	for name, c := range map[string]struct {
		silence store.Silence
		want    bool
	}{
		"the cause":                {store.Silence{Alert: "hot-project.1"}, true},
		"the consequence":          {store.Silence{Alert: "hot-shard.2"}, true},
		"the consequence's rule":   {store.Silence{Rule: "hot-shard"}, true},
		"another of its rule":      {store.Silence{Alert: "hot-shard.3"}, false},
		"a rule of neither":        {store.Silence{Rule: "jumbo"}, false},
		"a silence that has ended": {store.Silence{Rule: "hot-shard", Until: now.Add(-time.Minute)}, false},
	} {
		if c.silence.Until.IsZero() {
			c.silence.Until = now.Add(time.Hour)
		}
		c.silence.At = now.Add(-time.Hour)
		e := &Engine{silences: []store.Silence{c.silence}}
		expect.Equal(t, e.silenced(a, now), c.want, "%s is silenced: whether the alert is silent", name)
	}
}
