package app

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/clock"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// advising evaluates the rules and sends alerts.
type advising struct {
	advisor *rules.Advisor
	sources rules.Sources // of advisor
	tables  tables
	alerts  *alert.Engine    // nil: no alert receivers
	store   store.Leadership // nil: nobody else leads
	history *rules.ProblemHistory
}

// tables are the routing tables of the watcher.
type tables interface {
	Table() *topology.Table
	Subscribe() (*topology.Table, <-chan struct{}, func())
}

// newAdvising makes the advisor and the alerts. Only the process that leads sends alerts; otherwise
// each one would send the same.
func (p *clusterParts) newAdvising(c ClusterConfig) advising {
	out := advising{tables: p.watcher, store: p.store, sources: rules.Sources{
		Tables: p.watcher, Directories: p.keeper, Profile: c.profile(), Heat: p.heat, Past: p.history.past, Notices: p.store,
		Surveys: p.surveys, Unsealed: p.unsealed, Pins: p.pinsOfPlans(), Paused: p.pausedBalancing(), SetByRuns: p.settingsByRuns(),
		Bounds: c.Bounds, Log: c.Log,
	}}
	out.advisor = rules.NewAdvisor(out.sources)
	out.history = rules.NewProblemHistory(p.store, out.advisor, c.Log)
	switch {
	case c.Alerts == nil:
	case !p.store.Leads() && !p.store.Leader().Shared:
		c.Log.Warn("another shardboard owns the data and sends the alerts; this one sends none")
	default:
		out.alerts = alert.New(c.Alerts, problems.AlertSource(out.advisor, c.HideBounds), p.store, alert.Options{Log: c.Log})
	}
	return out
}

// runAlerts sends alerts while this process leads, until the context ends, if there are receivers.
// The first check waits for the
// routing table, without which no rule can be checked. A cluster that cannot be read for longer is
// reported by the check itself.
func (a advising) runAlerts(ctx context.Context) error {
	if a.alerts == nil {
		return nil
	}
	a.waitForTable(ctx, alert.Every)
	a.advisor.Refresh()
	if a.store == nil || !a.store.Leader().Shared {
		return a.alerts.Run(ctx)
	}
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { a.followAlerts(ctx) })
	return a.store.Lead(ctx, func(ctx context.Context) error {
		a.alerts.Forget() // the leader before has sent some since
		return a.alerts.Run(ctx)
	})
}

// followAlerts shows the alerts that another process sends.
func (a advising) followAlerts(ctx context.Context) {
	failed := false
	for clock.Sleep(ctx, alertsRead) == nil {
		cluster := a.tables.Table().ClusterID
		if a.store.Leads() || cluster == "" {
			continue
		}
		err := a.alerts.Follow(ctx, cluster)
		if err != nil && !failed && ctx.Err() == nil {
			a.sources.Log.Warn("read the alerts of the shardboard that leads", "err", err)
		}
		failed = err != nil
	}
}

// alertsRead is how often a process that does not send alerts reads their state.
const alertsRead = 5 * time.Second

// waitForTable waits until the routing table is loaded, but no longer than so long.
func (a advising) waitForTable(ctx context.Context, longest time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	table, changed, end := a.tables.Subscribe()
	defer end()
	for ; !table.Loaded; table = a.tables.Table() {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
