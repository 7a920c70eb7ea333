package topology

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// BalancerAction is a row of config.actionlog: a round of the balancer that moved
// something or failed, or a change of its switch.
type BalancerAction struct {
	ID     string
	What   string    // as the server writes it: balancer.round, balancer.start, balancer.stop
	Time   time.Time // the server's; of a round: its end
	Took   time.Duration
	Moved  int64 // chunks
	Failed bool
}

// Rounds is what is known of the balancer's rounds. The zero value: nothing was
// read.
type Rounds struct {
	Actions []BalancerAction // newest first, at most 500
	From    time.Time        // nothing is missing after this time; zero: not read
	To      time.Time        // when they were read last, by our clock
	Denied  bool             // config.actionlog may not be read
}

// ActionSource is a Source that reads the balancer's own log too: the newest
// rows, newest first, at most limit. The log has no index by time, so only its
// end is ever read. fault.Forbidden around a *DeniedError as elsewhere.
type ActionSource interface {
	BalancerActions(ctx context.Context, limit int) ([]BalancerAction, error)
}

const (
	roundsKept = 500
	roundsPage = 20
	// roundTurns is for how many slow polls after a migration was logged the
	// balancer's log is read: it tells of a round when the round has ended. An idle
	// cluster costs nothing.
	roundTurns = 12
)

// roundsDue is when the balancer's log is to be read; pollSlow's gate guards it.
type roundsDue struct {
	of    string // the newest entry of a migration that is known of
	turns int
}

// pollRounds reads what the balancer's log has gained, while there are migrations
// whose author it may tell. At most two commands.
func (w *Watcher) pollRounds(ctx context.Context) {
	src, ok := w.src.(ActionSource)
	if !ok {
		return
	}
	t := w.Table()
	if i := slices.IndexFunc(t.Events, func(e Event) bool { return strings.HasPrefix(e.What, "moveChunk.") }); i >= 0 &&
		t.Events[i].ID != w.rounds.of {
		w.rounds = roundsDue{of: t.Events[i].ID, turns: roundTurns}
	}
	if w.rounds.turns == 0 {
		return
	}
	w.rounds.turns--
	read, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	now := time.Now()
	limit := roundsKept
	if len(t.Rounds.Actions) > 0 {
		limit = roundsPage
	}
	list, err := src.BalancerActions(read, limit)
	if err == nil && limit == roundsPage && len(list) == limit && !t.Rounds.has(list[limit-1].ID) {
		limit = roundsKept
		list, err = src.BalancerActions(read, limit)
	}
	var denied *DeniedError
	if err != nil && !errors.As(err, &denied) {
		return // what was known stays, with its time
	}
	last := w.rounds.turns == 0 // what was left open may be clear now
	w.publish(func(t *Table) bool {
		was := t.Rounds
		if denied != nil {
			t.Rounds = Rounds{Denied: true}
			return !was.Denied
		}
		t.Rounds = was.with(list, limit)
		t.Rounds.To = now
		return last || was.From.IsZero() || len(list) > 0 && !was.has(list[0].ID)
	})
}

func (r Rounds) has(id string) bool {
	return slices.ContainsFunc(r.Actions, func(a BalancerAction) bool { return a.ID == id })
}

// with adds rows that were read with a limit.
func (r Rounds) with(list []BalancerAction, limit int) Rounds {
	if len(list) == limit && !r.has(list[limit-1].ID) {
		return Rounds{Actions: list, From: list[limit-1].Time} // what lies between is not known
	}
	out := Rounds{Actions: slices.Clone(list), From: r.From}
	for _, a := range r.Actions {
		if !slices.ContainsFunc(list, func(b BalancerAction) bool { return b.ID == a.ID }) {
			out.Actions = append(out.Actions, a)
		}
	}
	if r.From.IsZero() {
		out.From = time.Unix(0, 0) // the whole log
	}
	if len(out.Actions) > roundsKept {
		out.Actions = out.Actions[:roundsKept]
		out.From = out.Actions[roundsKept-1].Time
	}
	return out
}
