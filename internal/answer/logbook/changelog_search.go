package logbook

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

const (
	// LogListed is how many entries of a time a page lists at most, on pages of EventRows.
	LogListed = 1000
	// logRemembered is how many entries of each kind (of the server's own collections, and others) a
	// table has at most.
	logRemembered = 1000
	// aroundEntry is how far from an entry the others of the same operation are looked for, and
	// entriesAround how many at most.
	aroundEntry   = 15 * time.Minute
	entriesAround = 5000
)

// changelog is what was read of the log: of the table, or of a time also of what history keeps.
type changelog struct {
	v        answer.View
	kept     *history.Past // nil: not searched
	sorted   bool          // by time, and not as servers wrote the entries
	timed    bool
	from, to time.Time // of timed

	chosen  []topology.Event // newest first
	hidden  int              // of the server's own collections, that would have been chosen
	more    bool             // chosen are not all: there were more than asked for
	until   logPosition      // searched back to here only; zero: to the begin
	history bool             // history was searched
}

func readLog(ctx context.Context, v answer.View, kept *history.Past, q ActivityQuery) (changelog, error) {
	log := changelog{v: v, kept: kept}
	limit := 2 * logRemembered
	if q.Timed() {
		log.search(q.Span(v.Now))
		limit = LogListed + 1
	}
	err := log.read(ctx, logPosition{}, limit, q.takes, q.Internal || answer.AsksInternal(q.NS))
	if log.timed && len(log.chosen) > LogListed {
		log.chosen, log.more = log.chosen[:LogListed], true
	}
	return log, err
}

// search makes it of a time. Nothing is known after the time that a view is of.
func (l *changelog) search(from, to time.Time) {
	l.sorted, l.timed, l.from, l.to = true, true, from, to
	if end := l.v.Now.Add(time.Millisecond); l.v.Past != nil && end.Before(to) {
		l.to = end
	}
	since := remembersSince(l.v.Table)
	l.history = l.kept != nil && l.v.Table.ClusterID != "" && (from.IsZero() || since.IsZero() || from.Before(since))
}

// remembersSince is the time from which on a table has every entry.
func remembersSince(t *topology.Table) (since time.Time) {
	var internal, others int
	for _, e := range t.Events {
		n := &others
		if e.Internal() {
			n = &internal
		}
		if *n++; *n == logRemembered {
			return e.Time
		}
		since = e.Time
	}
	return since
}

// read chooses entries after a position, at most limit.
func (l *changelog) read(ctx context.Context, after logPosition, limit int, takes func(Event) bool, internal bool) error {
	chooses := func(e topology.Event) bool {
		switch {
		case !takes(ReadEvent(e)):
			return false
		case !internal && e.Internal():
			l.hidden++
			return false
		}
		return after == (logPosition{}) || after.newerThan(positionOf(e))
	}
	for _, e := range l.v.Table.Events {
		if (!l.timed || within(e, l.from, l.to)) && chooses(e) {
			l.chosen = append(l.chosen, e)
		}
	}
	if l.history {
		l.hidden = 0 // counted again
		to := l.to
		if after != (logPosition{}) {
			to = time.UnixMilli(after.at + 1)
		}
		found, err := l.kept.Search(ctx, l.v.Table.ClusterID, l.from, to, limit, chooses)
		if err != nil {
			return err
		}
		if !found.Until.IsZero() {
			l.until = logPosition{found.Until.UnixMilli(), found.LastID}
		}
		l.chosen = append(l.chosen, l.hideTexts(found.Events)...)
	}
	if l.sorted {
		l.chosen = sortedLog(l.chosen)
	}
	l.chosen = l.chosen[:min(len(l.chosen), limit)]
	return nil
}

func (l *changelog) hideTexts(list []topology.Event) []topology.Event {
	if l.v.Hidden.Texts {
		return answer.HideInEvents(list)
	}
	return list
}

// shown are chosen entries with their reasons and causes, which other entries near them tell.
func (l *changelog) shown(ctx context.Context, list []topology.Event) ([]api.Event, error) {
	if len(list) == 0 {
		return nil, nil
	}
	v := l.v
	if l.history {
		from, to := list[len(list)-1].Time.Add(-aroundEntry), list[0].Time.Add(aroundEntry)
		found, err := l.kept.Search(ctx, v.Table.ClusterID, from, to, entriesAround, func(topology.Event) bool { return true })
		if err != nil {
			return nil, err
		}
		if v.Eras, err = l.kept.Eras(ctx, v.Table.ClusterID, from, to); err != nil {
			return nil, err
		}
		t := *v.Table
		near := slices.DeleteFunc(slices.Clone(v.Table.Events), func(e topology.Event) bool { return !within(e, from, to) })
		t.Events = sortedLog(slices.Concat(near, l.hideTexts(found.Events)))
		v.Table = &t
	}
	reasons, causes := Reasons(v), causesOf(v, list)
	out := make([]api.Event, 0, len(list))
	for _, e := range list {
		x := EventOf(v, ReadEvent(e).Because(reasons))
		if c, ok := causes[e.ID]; ok {
			x.Cause = whoDid(c)
		}
		out = append(out, x)
	}
	return out, nil
}

// causesOf are who caused entries, by their ids. Those of a move have one cause.
func causesOf(v answer.View, list []topology.Event) map[string]history.Cause {
	out := map[string]history.Cause{}
	for _, m := range AllMigrations(v) {
		for _, id := range m.Entries {
			out[id] = m.Cause
		}
	}
	eras, rounds := v.Eras, v.Table.Rounds
	if eras == nil {
		eras = history.NowEras(v.Table)
	}
	if v.Past != nil {
		rounds = v.Past.Rounds
	}
	runs := OurRuns(v, list[len(list)-1].Time, v.Now)
	for _, e := range list {
		if _, known := out[e.ID]; !known {
			if c := history.EntryCause(e, runs, eras, rounds); c.By != "" {
				out[e.ID] = c
			}
		}
	}
	return out
}
