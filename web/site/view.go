package site

import (
	"context"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/memory"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

// Views is what is known of the cluster, now and of past times, as each reader may see
// it, and what is remembered so that it need not be computed again. Safe for
// concurrent use.
type Views struct {
	deps *Deps

	bands      *mapped.MapBands
	kept       answer.Kept
	pasts      *answer.Pasts
	eras       logbook.BalancerEras
	begin      historyBegin
	flightRuns logbook.FlightMemo
	trials     offering.Trials // of plans that pages offer
	tables     *answer.HiddenTables
}

// newViews makes those of a site; born tells them from those of the process before.
func newViews(deps *Deps, born int64) *Views {
	return &Views{deps: deps, bands: mapped.NewMapBands(born), pasts: answer.NewPasts(), tables: answer.NewHiddenTables()}
}

// ViewOf is the state of a past time.
func (s *Views) ViewOf(ctx context.Context, now answer.View, at time.Time) (answer.View, error) {
	if err := s.KeepsHistory(now); err != nil {
		return now, err
	}
	if s.deps.Store.Memory.Step() >= memory.History {
		s.pasts.Drop()
		return now, fault.New(fault.Unavailable, "Past times are not shown now. %s", s.deps.Store.Memory.State().Text())
	}
	t, err := s.pasts.Table(ctx, s.deps.Past.History, now.Table.ClusterID, at, now.Now)
	if err != nil {
		return now, err
	}
	m := history.Moment{Table: t, At: at}
	if err := s.deps.Past.History.Watch(ctx, now.Table.ClusterID, &m); err != nil {
		return now, err
	}
	v := now.Computable()
	v.Table, v.Now, v.Found = t, at, nil
	v.Sizes, v.Writes, v.WritesAt, v.HoldingsOf = nil, nil, nil, nil // all are of now
	v.Past = &answer.PastTime{At: at, Now: now.Now, Watched: m.Watched, Last: m.Last, Next: m.Next, Rounds: now.Table.Rounds,
		Reached: now.Table.IsRead()}
	v.Dir = s.projects(now.Table, v.Dir)
	if !now.Table.IsRead() {
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

// projects are those that were read, or those that are stored while the cluster was not read.
func (s *Views) projects(t *topology.Table, read *placement.Directory) *placement.Directory {
	if d := s.deps.Past.StoredProjects; d != nil && !read.Loaded() && !t.IsRead() {
		return d
	}
	return read
}

// problemsAt is what was found at the time of a past view. Where nobody judged then it is what the rules find in its
// routing table.
func (s *Views) problemsAt(ctx context.Context, v answer.View) (rules.View, error) {
	if s.deps.Problems.Past != nil {
		found, judged, err := s.deps.Problems.Past.At(ctx, v.Table.ClusterID, v.Past.At)
		if judged || err != nil {
			return found, err
		}
	}
	found := problems.Problems(v)
	found.NotJudged = true
	return found, nil
}

// KeepsHistory tells why there is no past to look at, if so.
func (s *Views) KeepsHistory(now answer.View) error {
	switch {
	case s.deps.Past.History == nil:
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

// Eras are the balancer's settings over the time of a view's entries; nil when no
// history is kept or it cannot be read: then those of the table count.
func (s *Views) Eras(v answer.View) history.Eras {
	if s.KeepsHistory(v) != nil {
		if s.deps.Cluster.Once {
			return history.Eras{}
		}
		return nil
	}
	eras, err := s.eras.Of(v, s.deps.Past.History)
	if err != nil {
		s.deps.Log.Warn("history cannot be read", "err", err)
	}
	return eras
}

// chunkWrites are the chunks of a collection that took writes lately, by
// position, over some time; known is false where its writes are not counted.
func (s *Views) chunkWrites(t *topology.Table, ns topology.Namespace, over time.Duration) (rates map[int]heat.Rate, known, atLeast bool) {
	if s.deps.Measured.Heat == nil {
		return nil, false, false
	}
	w := s.deps.Measured.Heat.Window(ns, over)
	if w.Seconds == 0 {
		return nil, false, false
	}
	rates = map[int]heat.Rate{}
	for _, l := range w.Chunks(t, s.deps.Cluster.Profile) {
		rates[l.Chunk] = l.Rate
	}
	return rates, true, w.Method == heat.ChangedRows
}

func (s *Views) usualWrites(t *topology.Table, ns topology.Namespace) (rates map[int]heat.Rate, known, atLeast bool) {
	return s.chunkWrites(t, ns, answer.DefaultWindow)
}

// writesAt is the end of the window that chunkWrites is of.
func (s *Views) writesAt(ns topology.Namespace) int64 {
	if s.deps.Measured.Heat == nil {
		return 0
	}
	return s.deps.Measured.Heat.CountedUntil(ns).UnixMilli()
}

// MapView is a view with what this site remembers of the map.
func (s *Views) MapView(v answer.View) mapped.MapView {
	if s.deps.Store.Memory.Step() >= memory.Map {
		return mapped.MapView{View: v}
	}
	return mapped.MapView{View: v, Bands: s.bands}
}

// View is the newest state of everything that a page shows.
func (s *Views) View() answer.View {
	c := s.deps.Cluster
	v := answer.View{Data: s.deps.Store.Condition(), Table: c.Watcher.Table(), Dir: c.Keeper.Directory(), Profile: c.Profile,
		Now: s.deps.Now(), Runs: s.deps.Past.Runs, Sizes: s.deps.Measured.Sizes, Writes: s.usualWrites, WritesAt: s.writesAt,
		Kept:   &s.kept,
		Counts: s.deps.Measured.Heat}
	if s.deps.Store.Memory.Step() >= memory.Map {
		s.kept.Drop()
		s.bands.Drop()
		v.Kept = nil
	}
	if !v.Table.Saved.IsZero() {
		v.Dir = s.projects(v.Table, v.Dir)
	}
	if s.deps.Measured.Holdings != nil {
		v.HoldingsOf = s.deps.Measured.Holdings.Snapshot
	}
	if s.deps.Past.Runs != nil {
		v.FlightRuns = func() []history.OurRun { return s.flightRuns.Of(v) }
	}
	if t := s.deps.Store.troubleNow(); t != nil {
		v.Trouble = t.Title()
	}
	if s.deps.Changes.Pins != nil {
		v.Pins, v.PinsVersion = s.deps.Changes.Pins.Pins()
	}
	ctx, cancel := context.WithTimeout(context.Background(), decisionsWait)
	defer cancel()
	found := s.deps.Problems.Advice.ViewOf(ctx, v.Table, v.Dir)
	v.Found = &found
	return v
}
