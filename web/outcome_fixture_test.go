package web

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

// stubOutcomes answers the same for every run.
type stubOutcomes struct {
	mu   sync.Mutex
	is   outcome.Outcome
	err  error
	told chan struct{}
}

func newOutcomes(o outcome.Outcome) *stubOutcomes {
	return &stubOutcomes{is: o, told: make(chan struct{}, 1)}
}

func (s *stubOutcomes) Of(context.Context, engine.Run) (outcome.Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is, s.err
}

func (s *stubOutcomes) Subscribe() (<-chan struct{}, func()) { return s.told, func() {} }

func (s *stubOutcomes) change(o outcome.Outcome) {
	s.mu.Lock()
	s.is = o
	s.mu.Unlock()
	s.told <- struct{}{}
}

func withOutcome(o outcome.Outcome, change ...func(*outcome.Outcome)) func(*site.Deps) {
	for _, f := range change {
		f(&o)
	}
	return func(d *site.Deps) { d.Outcomes = newOutcomes(o) }
}

// helpedOutcome is that of a move over the story's changes which spread the
// writes: 62 % on the hottest shard before, 41 % after.
func helpedOutcome(v answer.View) outcome.Outcome {
	at := v.Now.Add(-time.Hour).Truncate(time.Minute)
	rate := func(perSecond, share float64) heat.Rate {
		return heat.Rate{PerSecond: perSecond, Share: share, Exact: true, Rows: int64(600 * perSecond)}
	}
	of := func(r heat.Rate) *heat.Rate { return &r }
	c := v.Table.Collection("yorkie-meta.changes")
	document := func(i int) (lo, hi []byte) {
		ch := c.Chunks.At(i)
		return must(c.Key.Document(ch.Min)), must(c.Key.Document(ch.Max))
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

// outcomeScenes are the states of the question whether a run helped.
func outcomeScenes() []scene {
	fine := newStory().View()
	o := helpedOutcome(fine)
	sc := func(name, run string, change ...func(*outcome.Outcome)) scene {
		return scene{name: "outcome-" + name, path: "/runs/" + recordNamed(run), view: fine, change: func(d *site.Deps) {
			playing(cast{mode: "local", me: olga})(d)
			actions := cannedActions()
			actions.runs = append(actions.runs, movedRun(fine, actions))
			d.Actions = actions
			withOutcome(o, change...)(d)
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
	with := failing.change
	failing.change = func(d *site.Deps) {
		with(d)
		d.Outcomes = &stubOutcomes{err: fault.New(fault.Unavailable, "The data directory is full.")}
	}
	return []scene{
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
		sc("shared", "moved", none, func(o *outcome.Outcome) {
			o.State, o.PlusMinus, o.OtherRuns = outcome.Shared, .01, []string{recordNamed("succeeded"), recordNamed("undone")}
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

// movedRun is a move that succeeded, with what the server logged of it.
func movedRun(v answer.View, a *stubActions) engine.Run {
	p := a.plans[1]
	r := engine.Run{
		ID:      recordNamed("moved"),
		Plan:    p.ID,
		Kind:    p.Kind,
		Args:    p.Args,
		Summary: p.Summary,
		State:   engine.Succeeded,
		By:      olga.ID,
		ByName:  olga.Name,
		Reason:  p.Reason,
		Started: v.Now.Add(-time.Hour),
		Ended:   v.Now.Add(-time.Hour + 10*time.Second),
	}
	for i, step := range p.Steps {
		s := engine.Step{
			Step:     step,
			Command:  p.Commands[i],
			State:    engine.Succeeded,
			Answered: true,
			Sent:     r.Started.Add(time.Second),
			Ended:    r.Started.Add(9 * time.Second),
		}
		if step.Migrates() {
			s.Events = []topology.Event{
				{ID: "e1", Time: s.Ended, What: "moveChunk.commit", NS: string(step.NS), Shard: "shard-rs-1", Details: committed(8123, 8_600_000)},
			}
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}
