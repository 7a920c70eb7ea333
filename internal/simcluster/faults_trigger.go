package simcluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
	"shardboard/internal/simcluster/engine"
)

// errCut means that the connection is to be closed without an answer.
var errCut = errors.New("connection cut")

// trigger applies the rules for a point. An error ends the operation there.
func (f *Faults) trigger(ctx context.Context, at catalog.Point, r *engine.Request) error {
	if ctx.Value(internalCommand{}) != nil {
		return nil
	}
	var body bson.Raw // nil for migrations of the balancer
	if r != nil {
		body = r.Body
	} else if t, ok := ctx.Value(inflightKey{}).(*inflightCommand); ok {
		body = t.body
	}
	var failed error
	for _, p := range f.matching(at, body) {
		if err := f.apply(ctx, at, p); err != nil && failed == nil {
			failed = err
		}
	}
	return failed
}

func (f *Faults) apply(ctx context.Context, at catalog.Point, p *Planted) error {
	r := p.rule
	hit := Hit{At: f.cluster.catalog.Now(), Command: at.Command, Step: at.Step, NS: at.NS, Rule: r}
	var act *sideEffect
	if r.Do != nil {
		act = &sideEffect{done: make(chan struct{})}
		hit.Done, hit.DoErr = act.done, act.result
	}
	f.mu.Lock()
	if len(f.hits) >= maxSeen {
		f.hits = slices.Delete(f.hits, 0, maxSeen/2)
	}
	f.hits = append(f.hits, hit)
	f.mu.Unlock()
	if r.Delay > 0 {
		if err := wait(ctx, time.After(r.Delay), nil); err != nil {
			return err
		}
	}
	if r.Hold {
		if err := wait(ctx, nil, p.gone); err != nil {
			return err
		}
	}
	if r.Freeze != "" {
		f.Freeze(r.Freeze)
	}
	if act != nil {
		if !f.cluster.goRun(f.cluster.life, func(life context.Context) { act.run(life, f.cluster, r.Do) }) {
			act.err = ErrClosed
			close(act.done)
		}
		if err := wait(ctx, time.After(r.Patience), act.done); err != nil {
			return err
		}
	}
	return f.fail(ctx, at, r)
}

// fail applies the part of a fault that the client notices.
func (f *Faults) fail(ctx context.Context, at catalog.Point, r Rule) error {
	answer, migrating := at.Answer, at.Answer != nil
	if trip, ok := ctx.Value(inflightKey{}).(*inflightCommand); ok && !migrating {
		trip.twice = trip.twice || r.Twice && at.Step == Received
		answer = trip.answer
	}
	var err error
	switch {
	case r.Cut:
		err = errCut
	case r.StepDown && migrating && !r.GoOn:
		err = &catalog.SteppedDown{Term: f.elect(at.From)}
	case r.StepDown:
		err = Fail(11602)
	case r.Err != nil:
		err = r.Err
	default:
		return nil
	}
	if (r.Cut || r.GoOn) && answer != nil {
		answer(err)
	}
	if r.GoOn || r.Cut && migrating {
		return nil
	}
	return err
}

// elect counts an election of a member and returns the term that it ended.
func (f *Faults) elect(member string) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.terms == nil {
		f.terms = make(map[string]int64)
	}
	f.terms[member]++
	return f.terms[member]
}

// wait returns when either channel is ready, or with an error when ctx ends.
func wait(ctx context.Context, timer <-chan time.Time, done <-chan struct{}) error {
	select {
	case <-timer:
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}
