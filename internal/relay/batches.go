package relay

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
)

// Pause pauses a batch, here or at the leader.
func (s *Runs) Pause(ctx context.Context, by auth.Principal, run string) (engine.Run, error) {
	return s.changeBatch(ctx, by, pauseRun, stopBody{run}, run, func() (engine.Run, error) { return s.Service.Pause(ctx, by, run) })
}

// Resume lets a batch go on, or decides about one of its items, here or at the leader.
func (s *Runs) Resume(ctx context.Context, by auth.Principal, run string, r engine.ResumeRequest) (engine.Run, error) {
	return s.changeBatch(ctx, by, resumeRun, resumeBody{run, r}, run, func() (engine.Run, error) { return s.Service.Resume(ctx, by, run, r) })
}

// changeBatch does something here, or asks the leader. Asking again does no harm.
func (s *Runs) changeBatch(ctx context.Context, by auth.Principal, what string, body any, run string,
	here func() (engine.Run, error)) (engine.Run, error) {
	if !s.relay.follows() {
		r, err := here()
		if !s.relay.mustAsk(err) {
			return r, err
		}
	}
	var a runAnswer
	err := s.relay.ask(ctx, what, by, body, &a)
	if err == nil {
		return s.RunByID(ctx, run)
	}
	if lost, is := asLost(err); is {
		return engine.Run{}, lost.unknown(
			"The shardboard that ran this batch is gone, and with it the request. Another one continues it; look at the run and ask again.",
			"It is not known whether this was done: the shardboard that leads has not answered in time. Look at the run.")
	}
	return engine.Run{}, err
}
