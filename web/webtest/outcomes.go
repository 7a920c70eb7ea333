package webtest

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/outcome"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// StubOutcomes answers the same for every run.
type StubOutcomes struct {
	mu   sync.Mutex
	is   outcome.Outcome
	err  error
	told chan struct{}
}

// NewOutcomes answers o for every run.
func NewOutcomes(o outcome.Outcome) *StubOutcomes {
	return &StubOutcomes{is: o, told: make(chan struct{}, 1)}
}

func (s *StubOutcomes) Of(context.Context, engine.Run) (outcome.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is, s.err
}

func (s *StubOutcomes) Subscribe() (<-chan struct{}, func()) { return s.told, func() {} }

// Change replaces the outcome and notifies subscribers.
func (s *StubOutcomes) Change(o outcome.Outcome) {
	s.mu.Lock()
	s.is = o
	s.mu.Unlock()
	s.told <- struct{}{}
}

// WithOutcome is an option of New: an outcome that every run has.
func WithOutcome(o outcome.Outcome, change ...func(*outcome.Outcome)) func(*site.Deps) {
	for _, f := range change {
		f(&o)
	}
	return func(d *site.Deps) { d.Changes.Outcomes = NewOutcomes(o) }
}

// HelpedOutcome is that of a move over the story's changes which spread the
// writes: 62 % on the hottest shard before, 41 % after.
func HelpedOutcome(v answer.View) outcome.Outcome {
	at := v.Now.Add(-time.Hour).Truncate(time.Minute)
	rate := func(perSecond, share float64) heat.Rate {
		return heat.Rate{PerSecond: perSecond, Share: share, Exact: true, Rows: int64(600 * perSecond)}
	}
	of := func(r heat.Rate) *heat.Rate { return &r }
	c := v.Table.Collection("yorkie-meta.changes")
	document := func(i int) (lo, hi []byte) {
		ch := c.Chunks.At(i)
		return Must(c.Key.Document(ch.Min)), Must(c.Key.Document(ch.Max))
	}
	min2, max2 := document(2)
	min3, max3 := document(3)
	names := make([]string, 3)
	for i := range names {
		names[i] = v.Table.Shards[i].Name
	}
	o := outcome.Outcome{
		State:     outcome.Measured,
		Verdict:   outcome.Helped,
		Basis:     outcome.ByShards,
		PlusMinus: .011,
		KnownAt:   at.Add(11 * time.Minute),
		Before: outcome.Side{
			Span:    outcome.Span{From: at.Add(-10 * time.Minute), To: at},
			Covered: 600,
			Total:   rate(24, 1),
			Hottest: names[0],
			Share:   .62,
		},
		After: outcome.Side{
			Span:    outcome.Span{From: at.Add(time.Minute), To: at.Add(11 * time.Minute)},
			Covered: 600,
			Total:   rate(25, 1),
			Hottest: names[0],
			Share:   .41,
		},
		Shards: []outcome.ShardChange{
			{Shard: names[0], Before: rate(14.9, .62), After: rate(10.3, .41)},
			{Shard: names[1], Before: rate(5.3, .22), After: rate(9.2, .37)},
			{Shard: names[2], Before: rate(3.8, .16), After: rate(5.5, .22)},
		},
		Chunks: []outcome.ChunkChange{
			{NS: c.NS, Min: min2, Max: max2, From: names[0], To: names[1], Before: of(rate(4.6, .19)), After: of(rate(4.5, .18))},
			{NS: c.NS, Min: min3, Max: max3, To: names[1], After: of(rate(.7, .03))},
		},
		More: 3,
		Collections: []outcome.CollectionChange{
			{NS: c.NS, CoveredBefore: 600, CoveredAfter: 600, Before: of(rate(24, 1)), After: of(rate(25, 1))},
		},
	}
	return o
}

// OutcomeScenes are the states of the question whether a run helped.
func OutcomeScenes() []Scene {
	fine := NewStory().View()
	o := HelpedOutcome(fine)
	sc := func(name, run string, change ...func(*outcome.Outcome)) Scene {
		return Scene{Name: "outcome-" + name, Path: "/runs/" + RecordID(run), View: fine, Change: func(d *site.Deps) {
			WithAuth(StubAuth{SignInMode: "local", Me: Olga})(d)
			actions := CannedActions()
			actions.RunList = append(actions.RunList, MovedRun(fine, actions))
			d.Changes.Actions = actions
			WithOutcome(o, change...)(d)
		}}
	}
	none := func(o *outcome.Outcome) {
		o.Verdict, o.PlusMinus = "", 0
	}
	later := func(o *outcome.Outcome) {
		none(o)
		o.State, o.After, o.KnownAt = outcome.TooEarly, outcome.Side{Span: o.After.Span}, fine.Now.Add(7*time.Minute)
	}
	uncounted := func(reason string) func(*outcome.Outcome) {
		return func(o *outcome.Outcome) {
			*o = outcome.Outcome{
				State:       outcome.Uncounted,
				Basis:       o.Basis,
				Reason:      reason,
				Before:      outcome.Side{Span: o.Before.Span},
				After:       outcome.Side{Span: o.After.Span},
				Collections: []outcome.CollectionChange{{NS: "yorkie-meta.changes", Not: reason, CoveredBefore: 600, CoveredAfter: 40}},
			}
		}
	}
	failing := sc("unread", "moved")
	with := failing.Change
	failing.Change = func(d *site.Deps) {
		with(d)
		d.Changes.Outcomes = &StubOutcomes{err: fault.New(fault.Unavailable, "The data directory is full.")}
	}
	return []Scene{
		sc("helped", "moved"),
		sc("nochange", "moved", func(o *outcome.Outcome) { o.Verdict, o.After.Share = outcome.NoChange, .61 }),
		sc("worse", "moved", func(o *outcome.Outcome) {
			o.Verdict, o.After.Share, o.After.Hottest = outcome.Worse, .8, "shard-rs-2"
		}),
		sc("chunks", "succeeded", func(o *outcome.Outcome) {
			o.Basis, o.Before.Share, o.After.Share = outcome.ByChunks, .19, .07
			o.Before.Hottest, o.After.Hottest = "yorkie-meta.changes", "yorkie-meta.changes"
		}),
		sc("early", "moved", later),
		sc("sofar", "moved", func(o *outcome.Outcome) {
			o.State, o.After.Covered, o.KnownAt = outcome.SoFar, 120, fine.Now.Add(7*time.Minute)
		}),
		sc("notthis", "moved", func(o *outcome.Outcome) {
			o.Verdict, o.Credit = outcome.NotThis, outcome.Credit{Moved: .02, Without: o.After.Share + .02}
		}),
		sc("unclear", "moved", func(o *outcome.Outcome) {
			o.Verdict, o.Credit = outcome.Unclear, outcome.Credit{Moved: .1, Without: o.After.Share + .1}
		}),
		sc("shared", "moved", none, func(o *outcome.Outcome) {
			o.State, o.PlusMinus, o.OtherRuns = outcome.Shared, .01, []string{RecordID("succeeded"), RecordID("undone")}
		}),
		sc("few", "moved", none, func(o *outcome.Outcome) { o.State, o.Before.Total.Rows = outcome.Few, 41 }),
		sc("idle", "moved", none, func(o *outcome.Outcome) {
			o.State, o.Shards, o.Chunks, o.More = outcome.Idle, nil, nil, 0
			o.Before.Total, o.After.Total = heat.Rate{Exact: true}, heat.Rate{Exact: true}
		}),
		sc("partial", "moved", func(o *outcome.Outcome) {
			o.Before.Covered, o.OtherMoves = 240, 3
			o.Notes = []string{outcome.NotePartial, outcome.NoteMigrations, outcome.NoteHottest, outcome.NoteAstray}
			o.Collections = append(o.Collections, outcome.CollectionChange{NS: "yorkie-meta.versionvectors", Not: "inPlace"})
		}),
		sc("gap", "moved", uncounted("gap")), sc("inplace", "moved", uncounted("inPlace")), sc("norecord", "moved", func(o *outcome.Outcome) {
			uncounted("noRecord")(o)
			o.Collections = nil
		}),
		failing,
	}
}

// MovedRun is a move that succeeded, with what the server logged of it.
func MovedRun(v answer.View, a *StubActions) engine.Run {
	p := a.PlanList[1]
	r := runOf("moved", p.ID, p, engine.Succeeded, v.Now.Add(-time.Hour))
	r.Ended = r.Started.Add(10 * time.Second)
	for i := range r.Steps {
		s := &r.Steps[i]
		s.State, s.Answered, s.Sent, s.Ended = engine.Succeeded, true, r.Started.Add(time.Second), r.Started.Add(9*time.Second)
		if s.Migrates() {
			s.Events = []topology.Event{
				{ID: "e1", Time: s.Ended, What: "moveChunk.commit", NS: string(s.NS), Shard: "shard-rs-1", Details: committed(8123, 8_600_000)},
			}
		}
	}
	return r
}
