package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// Time limits of reads. Together they stay below the time limit of a request, which
// leaves time to save the plan.
const (
	planTimeout        = 14 * time.Second
	refreshTimeout     = 10 * time.Second
	lostRefreshTimeout = 2 * time.Second // when the cluster did not answer the last read
	activityTimeout    = 5 * time.Second
)

// readSituation gathers what a plan is made from: a table that is refreshed for it
// and the running operations.
func (e *Engine) readSituation(ctx context.Context) (actions.Situation, error) {
	e.awaitCleanups(ctx)
	t, err := e.refreshedTable(ctx)
	if err != nil {
		return actions.Situation{}, err
	}
	if !t.Loaded {
		return actions.Situation{}, t.NotLoaded()
	}
	projects := placement.NewDirectory(0, nil, nil, topology.Health{})
	if e.opts.Directory != nil {
		projects = e.opts.Directory.Directory()
	}
	s := e.knownSituation(t, projects)
	s.Activity = e.readActivity(ctx)
	return s, nil
}

// knownSituation is the situation as far as it follows from a table and from what
// the engine already knows.
func (e *planning) knownSituation(t *topology.Table, projects *placement.Directory) actions.Situation {
	s := actions.Situation{
		Table: t, Directory: projects, Profile: e.opts.Profile, Release: balance.ReleaseOf(t.ServerInfo.Version), Now: e.now(),
		Cleaned: e.cleanups.list(e.now()), Maintenance: e.opts.Maintenance,
	}
	if e.opts.Shared != nil {
		s.Shared, s.SharedAt = e.opts.Shared.SharedIDs()
	}
	return s
}

// awaitCleanups waits up to a second until the clean-ups of an earlier process are
// loaded. Otherwise a plan made right after the start would treat completed
// clean-ups as pending.
func (e *Engine) awaitCleanups(ctx context.Context) {
	if !e.opts.Journal.Leads() {
		e.loadCleanups(ctx, e.clusterID()) // of runs of the leader
		return
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, _ = e.awaitReady(ctx) // its error is only that the wait ended
}

// refreshedTable reads the table again and returns it. It fails when the routing
// information could not be read now. Parts that are read less often may be older; a
// check of the plan reports their age.
func (e *planning) refreshedTable(ctx context.Context) (*topology.Table, error) {
	limit := refreshTimeout
	if known := e.opts.Tables.Table(); known.Loaded && known.Health[topology.PartRouting].Err != nil {
		limit = lostRefreshTimeout
	}
	begun := time.Now()
	refresh, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := e.opts.Tables.Refresh(refresh)
	t := e.opts.Tables.Table()
	if err == nil {
		return t, nil
	}
	e.opts.Log.Warn("refresh the table for a plan", "err", err)
	if h := t.Health[topology.PartRouting]; t.Loaded && (h.Err != nil || h.At.Before(begun)) {
		cause := err
		if h.Err != nil {
			cause = h.Err // more specific than the timeout
		}
		return nil, fault.Wrap(fault.Unavailable, cause, "The routing table could not be read. %s", fault.Text(cause))
	}
	return t, nil
}

// explainOutage adds to the error of an outage what it means for the request.
func explainOutage(err error, means string) error {
	if fault.Of(err) != fault.Unavailable {
		return err
	}
	return fault.Wrap(fault.Unavailable, err, "%s %s", fault.Text(err), means)
}

// readActivity reads the running operations. When they cannot be read, the result
// contains the reason.
func (e *planning) readActivity(ctx context.Context) operation.Activity {
	ctx, cancel := context.WithTimeout(ctx, activityTimeout)
	defer cancel()
	a, err := e.opts.Reader.Activity(ctx, nil)
	if err == nil {
		return a
	}
	e.opts.Log.Warn("read the running operations for a plan", "err", err)
	return operation.Activity{Reason: readFailureReason(err), At: e.now()}
}

// readFailureReason is the code of the reason why something could not be read.
func readFailureReason(err error) string {
	if fault.Of(err) == fault.Forbidden {
		return "notPermitted"
	}
	return "unreachable"
}

// activityCheck reports whether the running operations of the cluster are known.
func activityCheck(a operation.Activity) actions.Check {
	c := actions.Check{ID: "activity", Verdict: actions.Pass, Text: message.New("check.activityKnown",
		"The cluster reported the operations that are running."),
		Source: message.New("source.activity", "Read from the cluster at {at}", message.Time("at", a.At))}
	if !a.Known {
		c.Verdict, c.Text = actions.Warn, message.New("check.activityUnknown",
			"The running operations of the cluster are not known ({reason}).", message.Coded("reason", a.Reason, topology.ReasonText(a.Reason)))
	}
	return c
}
