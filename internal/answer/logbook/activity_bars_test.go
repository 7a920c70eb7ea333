package logbook_test

import (
	"net/url"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/param"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// minuteByMinute is a view at the end of n minutes, in each of which one chunk was moved. Each fifth move failed.
func minuteByMinute(n int) (answer.View, time.Time) {
	begin := webtest.Epoch.Truncate(time.Hour)
	v := webtest.NewStory().View()
	t := *v.Table
	t.Events = nil
	details := webtest.Must(bson.Marshal(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: "shard-rs-2"}}))
	for i := range n {
		e := topology.Event{ID: time.Duration(i).String(), Time: begin.Add(time.Duration(i) * time.Minute), What: "moveChunk.commit",
			NS: "app.things", Shard: "shard-rs-1", Details: details}
		if i%5 == 0 {
			e.What = "moveChunk.error"
		}
		if i%10 == 9 {
			e.NS = "config.system.sessions"
		}
		t.Events = append([]topology.Event{e}, t.Events...)
	}
	v.Table, v.Now = &t, begin.Add(time.Duration(n)*time.Minute)
	return v, begin
}

func TestBarsOfTheChangelogHaveNoGapsAndAddUpToTheList(t *testing.T) {
	v, begin := minuteByMinute(100)
	for _, x := range []struct {
		address       string
		other, failed int
		width         time.Duration
		from          time.Time // where the first bar begins
	}{
		{"", 70, 20, 5 * time.Minute, begin},
		{"internal=1", 80, 20, 5 * time.Minute, begin},
		{"outcome=failed", 0, 20, 5 * time.Minute, begin},
		{"outcome=committed", 70, 0, 5 * time.Minute, begin},
		{"ns=app.", 70, 20, 5 * time.Minute, begin},
		{"last=1h", 42, 12, 2 * time.Minute, begin.Add(40 * time.Minute)},
		{"from=" + answer.AtText(begin.Add(10*time.Minute)) + "&to=" + answer.AtText(begin.Add(20*time.Minute)), 7, 2, time.Minute,
			begin.Add(10 * time.Minute)},
	} {
		q := must.Get(param.Read[logbook.ActivityQuery](webtest.Must(url.ParseQuery(x.address))))
		list, counts, err := logbook.Activity(t.Context(), v, nil, q)
		must.Do(t, err)
		other, failed := 0, 0
		for i, b := range counts.Bars {
			other, failed = other+b.Other, failed+b.Failed
			if b.To.Sub(b.From) != x.width || i > 0 && !b.From.Equal(counts.Bars[i-1].To) {
				t.Errorf("%q: bar %d is from %s to %s", x.address, i, b.From, b.To)
			}
		}
		if other != x.other || failed != x.failed || counts.Total != other+failed || counts.Failed != failed || counts.Listed != counts.Total {
			t.Errorf("%q: the bars have %d and %d failed, the counts are %+v", x.address, other, failed, counts)
		}
		if len(counts.Bars) == 0 || !counts.Bars[0].From.Equal(x.from) {
			t.Errorf("%q: the first bar begins elsewhere than at %s: %+v", x.address, x.from, counts.Bars[:min(1, len(counts.Bars))])
		}
		if hidden := x.address != "internal=1" && x.address != "ns=app."; (list.Hidden > 0) != hidden && x.address != "outcome=failed" {
			t.Errorf("%q: %d entries are hidden", x.address, list.Hidden)
		}
	}
}

func TestATimeWithoutEntriesHasNothingToCount(t *testing.T) {
	v, begin := minuteByMinute(100)
	for _, address := range []string{"from=2999-01-01T00:00", "to=" + answer.AtText(begin), "ns=no.such"} {
		q := must.Get(param.Read[logbook.ActivityQuery](webtest.Must(url.ParseQuery(address))))
		list, counts, err := logbook.Activity(t.Context(), v, nil, q)
		if err != nil || len(list.Items) != 0 || counts.Total != 0 || counts.Failed != 0 {
			t.Errorf("%s: %d entries, %+v, %v", address, len(list.Items), counts, err)
		}
	}
}

func TestTimesOfTheChangelogAreWholeMinutes(t *testing.T) {
	q, err := param.Read[logbook.LogTime](url.Values{"from": {"2026-01-02T03:04:59Z"}, "to": {"2026-01-02T03:05:01Z"}})
	if err != nil || q.From.Format(time.TimeOnly) != "03:04:00" || q.To.Format(time.TimeOnly) != "03:06:00" {
		t.Errorf("%+v, %v", q, err)
	}
	for _, bad := range []string{"last=2h", "last=1h&to=2026-01-02T03:04", "from=x", "to=x", "from=2026-01-02T03:04&to=2026-01-02T03:04"} {
		if q, err := param.Read[logbook.LogTime](webtest.Must(url.ParseQuery(bad))); err == nil {
			t.Errorf("%s is taken: %+v", bad, q)
		}
	}
}
