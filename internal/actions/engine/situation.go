package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Time limits of reads, after which a plan is made without the answer. Together they
// stay below the time limit of a request, so that there is time left to save the plan.
const (
	planTime     = 14 * time.Second
	refreshTime  = 10 * time.Second
	lostTime     = 2 * time.Second // of a cluster that did not answer the last read
	activityTime = 5 * time.Second
)

// situation gathers what a plan is made from: a table that was refreshed for
// it, where the cluster lets itself be read, and what goes on.
func (e *Engine) situation(ctx context.Context) (actions.Situation, error) {
	e.awaitCleanups(ctx)
	t, err := e.refreshed(ctx)
	if err != nil {
		return actions.Situation{}, err
	}
	if !t.Loaded {
		return actions.Situation{}, t.NotLoaded()
	}
	s := actions.Situation{
		Table: t, Profile: e.o.Profile, Release: balance.ReleaseOf(t.ServerInfo.Version), Now: now(),
		Directory: placement.NewDirectory(0, nil, nil, topology.Health{}), Activity: e.activity(ctx),
		Cleaned: e.cleanups.list(), Maintenance: e.o.Maintenance,
	}
	if e.o.Directory != nil {
		s.Directory = e.o.Directory.Directory()
	}
	if e.o.Shared != nil {
		s.Shared, s.SharedAt = e.o.Shared.SharedIDs()
	}
	return s, nil
}

// awaitCleanups waits a moment until the clean-ups of an earlier process are loaded,
// so that a plan made right after the start does not take them for pending.
func (e *Engine) awaitCleanups(ctx context.Context) {
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-e.ready:
	case <-t.C:
	case <-ctx.Done():
	case <-e.life.Done():
	}
}

// refreshed is the table after a new read. It is an error when the routing could
// not be read now; the age of parts that are read less often is a check of the plan.
func (e *Engine) refreshed(ctx context.Context) (*topology.Table, error) {
	limit := refreshTime
	if known := e.o.Tables.Table(); known.Loaded && known.Health[topology.PartRouting].Err != nil {
		limit = lostTime
	}
	begun := time.Now()
	refresh, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := e.o.Tables.Refresh(refresh)
	t := e.o.Tables.Table()
	if err == nil {
		return t, nil
	}
	e.o.Log.Warn("refresh the table for a plan", "err", err)
	if h := t.Health[topology.PartRouting]; t.Loaded && (h.Err != nil || h.At.Before(begun)) {
		cause := err
		if h.Err != nil {
			cause = h.Err // says more than that time ran out
		}
		return nil, fault.Wrap(fault.Unavailable, cause, "The routing table could not be read. %s", fault.Text(cause))
	}
	return t, nil
}

// without adds to the error of an outage what it means for the request.
func without(err error, means string) error {
	if fault.Of(err) != fault.Unavailable {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "%s %s", fault.Text(err), means)
}

// activity reads the running operations, with a deadline. When they cannot be read,
// the answer says why.
func (e *Engine) activity(ctx context.Context) actions.Activity {
	ctx, cancel := context.WithTimeout(ctx, activityTime)
	defer cancel()
	a, err := e.o.Reader.Activity(ctx, nil)
	if err == nil {
		return a
	}
	e.o.Log.Warn("ask for the activity for a plan", "err", err)
	reason := "unreachable"
	if fault.Of(err) == fault.Forbidden {
		reason = "notPermitted"
	}
	return actions.Activity{Reason: reason, At: now()}
}

// activityCheck says whether the running operations of the cluster are known.
func activityCheck(a actions.Activity) actions.Check {
	c := actions.Check{ID: "activity", Verdict: actions.Pass, Text: message.New("check.activityKnown",
		"The cluster reported the operations that are running."),
		Source: message.New("source.activity", "Read from the cluster at {at}", message.Time("at", a.At))}
	if !a.Known {
		c.Verdict, c.Text = actions.Warn, message.New("check.activityUnknown",
			"The running operations of the cluster are not known ({reason}).", message.Coded("reason", a.Reason, topology.ReasonText(a.Reason)))
	}
	return c
}
