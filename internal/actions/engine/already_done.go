package engine

import (
	"context"
	"time"

	"shardboard/internal/message"
)

// Who made a change before the step was sent.
const (
	ByBalancer = "balancer"
	ByOther    = "other"
	ByUnknown  = "unknown"
)

// alreadyDone reads whether the effect of a step is already there.
func (x *execution) alreadyDone(s Step) (proof []Reading, held bool) {
	proof, missing, err := x.e.readFacts(x.ctx, s.Achieves())
	return proof, err == nil && len(missing) == 0
}

// endAlreadyDone ends a step whose effect is already there, without sending its
// command.
func (x *execution) endAlreadyDone(i int, proof []Reading) bool {
	by := x.findAuthor(x.current().Steps[i])
	return x.endStep(i, func(s *Step) {
		s.State, s.Proven, s.Already, s.Backoff, s.Changed = Succeeded, proof, by, nil, nil
		s.Why = alreadyDoneText(by)
	})
}

// alreadyDoneText says who made the change.
func alreadyDoneText(by string) message.Message {
	who := "the balancer or somebody else (not known which)"
	switch by {
	case ByBalancer:
		who = "the balancer"
	case ByOther:
		who = "somebody else"
	}
	return message.New("step.already", "Nothing was sent: {by} had already made this change.", message.Coded("by", by, who))
}

// findAuthor finds out who made the change of a step, as far as the changelog and
// the balancer's own log tell. They say nothing about splits, zones and settings.
func (x *execution) findAuthor(s Step) string {
	if s.NS == "" || !s.Migrates() {
		return ByUnknown
	}
	r := x.current()
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	events, err := x.e.opts.Reader.Changelog(ctx, s.NS, r.Started.Add(-Expiry), eventLimit)
	if err != nil {
		return ByUnknown
	}
	t := x.e.opts.Tables.Table()
	c := t.Collection(s.NS)
	i := len(events) - 1
	for ; i >= 0; i-- {
		if events[i].What == "moveChunk.commit" && mayConcern(c, s, events[i]) {
			break
		}
	}
	switch {
	case i < 0:
		return ByUnknown
	case t.Balancer.Known && !t.Balancer.Enabled():
		return ByOther
	case x.e.opts.Rounds == nil:
		return ByUnknown
	}
	rounds, err := x.e.opts.Rounds.BalancerActions(ctx, roundsRead)
	if err != nil {
		return ByUnknown
	}
	at := events[i].Time
	for _, a := range rounds {
		if a.What == "balancer.round" && a.Moved > 0 && !at.Before(a.Time.Add(-a.Took-roundSlack)) && !at.After(a.Time.Add(roundSlack)) {
			return ByBalancer
		}
	}
	if x.e.now().Sub(at) > roundLogDelay && len(rounds) > 0 && rounds[len(rounds)-1].Time.Before(at) {
		return ByOther
	}
	return ByUnknown
}

const (
	roundsRead    = 50
	roundSlack    = 5 * time.Second // between the clocks of the servers that log a move and its round
	roundLogDelay = time.Minute     // a round is logged at most this long after its moves
)

// updateAuthors looks again for authors that were not known before: the balancer
// logs a round only after its moves.
func (x *execution) updateAuthors() {
	for i, s := range x.current().Steps {
		if s.Already != ByUnknown {
			continue
		}
		if by := x.findAuthor(s); by != ByUnknown {
			x.updateMemory(func(r *Run) {
				r.Steps[i].Already = by
				r.Steps[i].Why = alreadyDoneText(by)
			})
		}
	}
}
