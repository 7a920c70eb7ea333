package site

import (
	"context"
	"net/http"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/problems"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/memory"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// ViewAt is the state that a request is about: of the time of ?at=, else the
// newest. The list of projects is always the newest one that is known.
func (s *Site) ViewAt(r *http.Request) (answer.View, error) {
	v := s.ViewFor(r)
	text := r.URL.Query().Get("at")
	if text == "" {
		return v, nil
	}
	at, err := answer.ParsePastTime("at", text, v.Now)
	if err != nil {
		return v, err
	}
	return s.ViewOf(r.Context(), v, at)
}

// ViewOf is the state of a past time.
func (s *Site) ViewOf(ctx context.Context, now answer.View, at time.Time) (answer.View, error) {
	if err := s.KeepsHistory(now); err != nil {
		return now, err
	}
	if s.Deps.Store.Memory.Step() >= memory.History {
		s.pasts.Drop()
		return now, fault.New(fault.Unavailable, "Past times are not shown now. %s", s.Deps.Store.Memory.State().Text())
	}
	t, err := s.pasts.Table(ctx, s.Deps.Past.History, now.Table.ClusterID, at, now.Now)
	if err != nil {
		return now, err
	}
	m := history.Moment{Table: t, At: at}
	if err := s.Deps.Past.History.Watch(ctx, now.Table.ClusterID, &m); err != nil {
		return now, err
	}
	v := now.Computable()
	v.Table, v.Now, v.Found = t, at, nil
	v.Sizes, v.Writes, v.WritesAt, v.HoldingsOf = nil, nil, nil, nil // all are of now
	v.Past = &answer.PastTime{At: at, Now: now.Now, Watched: m.Watched, Last: m.Last, Next: m.Next, Rounds: now.Table.Rounds,
		Reached: now.Table.Loaded}
	if d := s.Deps.Past.StoredProjects; !v.Dir.Loaded() && !now.Table.Loaded && d != nil {
		v.Dir = d
	}
	if !now.Table.Loaded {
		v.Past.NamesOf = v.Dir.Health().At
	}
	found, err := s.problemsAt(ctx, v)
	if err != nil {
		return now, err
	}
	v.Found = &found
	v.Internal = now.Internal
	return s.Hide(v, now.Hidden), nil
}

// problemsAt is what was found at the time of a past view. Where nobody judged then it is what the rules find in its
// routing table.
func (s *Site) problemsAt(ctx context.Context, v answer.View) (rules.View, error) {
	if s.Deps.Problems.Past != nil {
		found, judged, err := s.Deps.Problems.Past.At(ctx, v.Table.ClusterID, v.Past.At)
		if judged || err != nil {
			return found, err
		}
	}
	found := problems.Problems(v)
	found.NotJudged = true
	return found, nil
}

// KeepsHistory tells why there is no past to look at, if so.
func (s *Site) KeepsHistory(now answer.View) error {
	switch {
	case s.Deps.Past.History == nil:
		return fault.New(fault.NotFound, "There is no history: this shardboard does not record it.")
	case !now.Table.Loaded && now.Table.ClusterID == "":
		return now.Table.NotLoaded()
	case now.Table.ClusterID == "":
		return fault.New(
			fault.NotFound,
			"There is no history: it is recorded under the cluster's id, which shardboard may not read. It needs find on config.version.",
		)
	}
	return nil
}

// LoadedAt is viewAt, once there is a table to answer from.
func (s *Site) LoadedAt(r *http.Request) (answer.View, error) {
	v, err := s.ViewAt(r)
	if err == nil && !v.Table.Loaded {
		err = v.Table.NotLoaded()
	}
	return v, err
}

// Eras are the balancer's settings over the time of a view's entries; nil when no
// history is kept or it cannot be read: then those of the table count.
func (s *Site) Eras(v answer.View) history.Eras {
	if s.KeepsHistory(v) != nil {
		if s.Deps.Cluster.Once {
			return history.Eras{}
		}
		return nil
	}
	eras, err := s.eras.Of(v, s.Deps.Past.History)
	if err != nil {
		s.Deps.Log.Warn("history cannot be read", "err", err)
	}
	return eras
}

// chunkWrites are the chunks of a collection that took writes lately, by
// position, over some time; known is false where its writes are not counted.
func (s *Site) chunkWrites(t *topology.Table, ns topology.Namespace, over time.Duration) (rates map[int]heat.Rate, known, atLeast bool) {
	if s.Deps.Measured.Heat == nil {
		return nil, false, false
	}
	w := s.Deps.Measured.Heat.Window(ns, over)
	if w.Seconds == 0 {
		return nil, false, false
	}
	rates = map[int]heat.Rate{}
	for _, l := range w.Chunks(t, s.Deps.Cluster.Profile) {
		rates[l.Chunk] = l.Rate
	}
	return rates, true, w.Method == heat.ChangedRows
}

func (s *Site) usualWrites(t *topology.Table, ns topology.Namespace) (rates map[int]heat.Rate, known, atLeast bool) {
	return s.chunkWrites(t, ns, answer.DefaultWindow)
}

// writesAt is the end of the window that chunkWrites is of.
func (s *Site) writesAt(ns topology.Namespace) int64 {
	if s.Deps.Measured.Heat == nil {
		return 0
	}
	return s.Deps.Measured.Heat.CountedUntil(ns).UnixMilli()
}

// MapView is a view with what this site remembers of the map.
func (s *Site) MapView(v answer.View) mapped.MapView {
	if s.Deps.Store.Memory.Step() >= memory.Map {
		return mapped.MapView{View: v}
	}
	return mapped.MapView{View: v, Bands: s.bands}
}

// View is the newest state of everything that a page shows.
func (s *Site) View() answer.View {
	c := s.Deps.Cluster
	v := answer.View{Data: s.DataCondition(), Table: c.Watcher.Table(), Dir: c.Keeper.Directory(), Profile: c.Profile,
		Now: s.Deps.Now(), Runs: s.Deps.Past.Runs, Sizes: s.Deps.Measured.Sizes, Writes: s.usualWrites, WritesAt: s.writesAt,
		Kept:   &s.kept,
		Counts: s.Deps.Measured.Heat}
	if s.Deps.Store.Memory.Step() >= memory.Map {
		s.kept.Drop()
		s.bands.Drop()
		v.Kept = nil
	}
	if s.Deps.Measured.Holdings != nil {
		v.HoldingsOf = s.Deps.Measured.Holdings.Snapshot
	}
	if s.Deps.Past.Runs != nil {
		v.FlightRuns = func() []history.OurRun { return s.flightRuns.Of(v) }
	}
	if t := s.troubleNow(); t != nil {
		v.Trouble = t.Title()
	}
	if s.Deps.Changes.Pins != nil {
		v.Pins, v.PinsVersion = s.Deps.Changes.Pins.Pins()
	}
	ctx, cancel := context.WithTimeout(context.Background(), decisionsWait)
	defer cancel()
	found := s.Deps.Problems.Advice.ViewOf(ctx, v.Table, v.Dir)
	v.Found = &found
	return v
}
