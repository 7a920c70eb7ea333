package relay

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// What is asked about runs.
const (
	runPlan = "run.start"
	stopRun = "run.stop"

	pauseRun  = "run.pause"
	resumeRun = "run.resume"
)

// Runs is the engine's service at every replica: plans are made and runs are read here, and runs
// begin and stop, and plans are approved, at the leader.
type Runs struct {
	engine.Service
	relay *Relay
}

type runBody struct {
	Plan    string
	Request engine.RunRequest
}

type stopBody struct{ Run string }

type resumeBody struct {
	Run     string
	Request engine.ResumeRequest
}

// runAnswer names the run, which the replica reads from the store.
type runAnswer struct {
	Run     string
	Created bool
}

// NewRuns relays the requests of a service.
func NewRuns(r *Relay, s engine.Service) *Runs {
	handle(r, runPlan, func(ctx context.Context, by auth.Principal, b runBody) (any, error) {
		run, created, err := s.Run(ctx, by, b.Plan, b.Request)
		return runAnswer{run.ID, created}, err
	})
	handle(r, stopRun, func(ctx context.Context, by auth.Principal, b stopBody) (any, error) {
		run, err := s.Stop(ctx, by, b.Run)
		return runAnswer{Run: run.ID}, err
	})
	handleApprovals(r, s)
	handle(r, pauseRun, func(ctx context.Context, by auth.Principal, b stopBody) (any, error) {
		run, err := s.Pause(ctx, by, b.Run)
		return runAnswer{Run: run.ID}, err
	})
	handle(r, resumeRun, func(ctx context.Context, by auth.Principal, b resumeBody) (any, error) {
		run, err := s.Resume(ctx, by, b.Run, b.Request)
		return runAnswer{Run: run.ID}, err
	})
	return &Runs{s, r}
}

// Run starts a plan, once, here or at the leader.
func (s *Runs) Run(ctx context.Context, by auth.Principal, plan string, r engine.RunRequest) (engine.Run, bool, error) {
	if !s.relay.follows() {
		run, created, err := s.Service.Run(ctx, by, plan, r)
		if !s.relay.mustAsk(err) {
			return run, created, err
		}
	}
	var a runAnswer
	err := s.relay.ask(ctx, runPlan, by, runBody{plan, r}, &a)
	if err == nil {
		run, err := s.RunByID(ctx, a.Run)
		return run, a.Created, err
	}
	lost, is := asLost(err)
	if !is {
		return engine.Run{}, false, err
	}
	switch run, e := s.RunOfPlan(context.WithoutCancel(ctx), plan); {
	case e == nil && run.By == by.ID:
		return run, true, nil
	case fault.Of(e) != fault.NotFound:
		lost.gone = false
	}
	return engine.Run{}, false, lost.unknown(
		"Nothing was started: the shardboard that was about to start this run is gone. Another one leads now; try again.",
		"It is not known whether this run began: the shardboard that leads has not answered in time. The list of runs will show it if it did. "+
			"A plan is run once at most, so asking again is safe.")
}

// Stop stops a run, here or at the leader.
func (s *Runs) Stop(ctx context.Context, by auth.Principal, run string) (engine.Run, error) {
	if !s.relay.follows() {
		r, err := s.Service.Stop(ctx, by, run)
		if !s.relay.mustAsk(err) {
			return r, err
		}
	}
	var a runAnswer
	err := s.relay.ask(ctx, stopRun, by, stopBody{run}, &a)
	if err == nil {
		return s.RunByID(ctx, run)
	}
	lost, is := asLost(err)
	if !is {
		return engine.Run{}, err
	}
	if r, e := s.RunByID(context.WithoutCancel(ctx), run); e == nil && (r.StopBy != "" || !r.State.Open()) {
		return r, nil
	}
	return engine.Run{}, lost.unknown(
		"The shardboard that ran this plan is gone, and with it the request to stop. Another one settles the run now and sends no more of its "+
			"commands, except to turn balancing on again.",
		"It is not known whether the run was stopped: the shardboard that leads has not answered in time. Look at the run.")
}
