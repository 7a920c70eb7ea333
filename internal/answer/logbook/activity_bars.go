package logbook

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// ActivityCounts are how many entries a query chooses, over time.
type ActivityCounts struct {
	Bars   []api.ActivityBar // of one width, without gaps; none if there is nothing
	Listed int               // on the list's pages, the newest ones
	Total  int               // at least, with Until
	Failed int
	Until  time.Time // only searched back to here; zero: all of it
	Since  time.Time // entries before this are not known; zero: all of it is known
}

// barsMost is how many bars the counts have at most.
const barsMost = 36

// barWidths are the times that a bar can stand for.
var barWidths = [...]time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// barsBetween are empty bars that cover a time; they begin at multiples of their width.
func barsBetween(from, to time.Time) (bars []api.ActivityBar, width time.Duration) {
	for _, width = range barWidths {
		if first := barStart(from, width); to.Sub(first) <= barsMost*width {
			for at := first; at.Before(to) && len(bars) < barsMost; at = at.Add(width) {
				bars = append(bars, api.ActivityBar{From: at, To: at.Add(width)})
			}
			return bars, width
		}
	}
	return nil, width
}

// barStart is the begin of the bar that a time is in.
func barStart(at time.Time, width time.Duration) time.Time {
	return time.UnixMilli(at.UnixMilli() - at.UnixMilli()%width.Milliseconds()).UTC()
}

// ActivityBars counts the entries that a query chooses, over time.
func ActivityBars(ctx context.Context, v answer.View, kept *history.Past, q ActivityQuery) (out api.FoldedList[api.ActivityBar],
	err error) {
	if err := answer.CheckRead(v, topology.PartEvents, "The changelog entries"); err != nil {
		return out, err
	}
	log, err := readLog(ctx, v, kept, q)
	if err != nil {
		return out, err
	}
	counts, err := log.counts(ctx, q)
	out.Items, out.Hidden = counts.Bars, log.hidden
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return out, err
}

// counts are those of the chosen entries; where these are not all, those that history keeps by the
// minute, which does not know the shards of an entry.
func (l *changelog) counts(ctx context.Context, q ActivityQuery) (out ActivityCounts, err error) {
	out.Listed = len(l.chosen)
	from, to, known, err := l.counted(ctx)
	if err != nil || !from.Before(to) {
		return out, err
	}
	out.Since = known
	var width time.Duration
	out.Bars, width = barsBetween(from, to)
	add := func(at time.Time, failed bool, n int) {
		out.Total += n
		i := -1
		if len(out.Bars) > 0 {
			i = int(at.Sub(out.Bars[0].From) / width)
		}
		if failed {
			out.Failed += n
		}
		switch {
		case i < 0 || i >= len(out.Bars) || at.Before(out.Bars[0].From):
		case failed:
			out.Bars[i].Failed += n
		default:
			out.Bars[i].Other += n
		}
	}
	incomplete := l.more || l.until != (logPosition{})
	if !incomplete || !l.history || q.Shard != "" {
		for _, e := range l.chosen {
			add(e.Time, ReadEvent(e).Failed, 1)
		}
		if incomplete && len(l.chosen) > 0 {
			out.Until = l.chosen[len(l.chosen)-1].Time
			if l.until != (logPosition{}) {
				out.Until = time.UnixMilli(l.until.at).UTC()
			}
		}
		return out, nil
	}
	list, err := l.kept.EventCounts(ctx, l.v.Table.ClusterID, from, to, width)
	if err != nil {
		return out, err
	}
	l.hidden = 0
	for _, c := range list {
		x := countedEvent(c.What, c.NS, c.Failed)
		switch {
		case !q.takes(x):
		case !q.Internal && !answer.AsksInternal(q.NS) && x.Internal():
			l.hidden += c.N
		default:
			add(c.At, c.Failed, c.N)
		}
	}
	return out, nil
}

// countedEvent is what is known of entries that were counted together.
func countedEvent(what, ns string, failed bool) Event {
	x := Event{Event: topology.Event{What: what, NS: ns}, Failed: failed}
	if what == history.FurtherSplit {
		x.What = "multi-split"
		x.Details, _ = bson.Marshal(bson.D{{Key: "number", Value: 2}}) // of one number: never fails
	}
	return x
}

// counted is the time that is counted, in whole minutes. Without a time that is asked for it is that
// of the entries. known is when what is known begins, where that is later than what is asked for.
func (l *changelog) counted(ctx context.Context) (from, to, known time.Time, err error) {
	if !l.timed {
		if len(l.chosen) == 0 {
			return from, to, known, nil
		}
		newest := l.chosen[0].Time
		for _, e := range l.chosen {
			if from.IsZero() || e.Time.Before(from) {
				from = e.Time
			}
			if e.Time.After(newest) {
				newest = e.Time
			}
		}
		return from.UTC().Truncate(time.Minute), WholeMinute(newest.UTC().Add(1)), known, nil
	}
	from, to = l.from, WholeMinute(l.to)
	begin := remembersSince(l.v.Table)
	if l.history {
		if kept, err := l.kept.FirstEvent(ctx, l.v.Table.ClusterID); err != nil && fault.Of(err) != fault.NotFound {
			return from, to, known, err
		} else if err == nil && (begin.IsZero() || kept.Before(begin)) {
			begin = kept
		}
	}
	if !begin.IsZero() && from.Before(begin) {
		known, from = begin, begin.Truncate(time.Minute) // the picture is fitted to what exists
		if l.from.IsZero() {
			known = time.Time{} // all of it is asked for, however much that is
		}
	}
	if from.IsZero() {
		from = to.Add(-time.Hour)
	}
	return from.UTC(), to.UTC(), known, nil
}
