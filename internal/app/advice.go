package app

import (
	"context"

	"shardboard/internal/alert"
	answers "shardboard/internal/answer"
	"shardboard/internal/rules"
)

// advising evaluates the rules and sends alerts.
type advising struct {
	advisor *rules.Advisor
	sources rules.Sources // of advisor
	alerts  *alert.Engine // nil: no alert receivers
}

// newAdvising makes the advisor and the alerts. Only the owner of the data directory sends alerts;
// otherwise each process that reads it would send the same ones.
func (a *instance) newAdvising(c Config) advising {
	out := advising{sources: rules.Sources{
		Tables: a.watcher, Directories: a.keeper, Profile: c.profile(), Heat: a.heat, Past: a.history.past, Notices: a.store,
		Surveys: a.surveys, Pins: a.pinsOfPlans(), Paused: a.pausedBalancing(), Log: c.Log,
	}}
	out.advisor = rules.NewAdvisor(out.sources)
	switch {
	case c.Alerts == nil:
	case !a.store.Owner():
		c.Log.Warn("another shardboard owns the data and sends the alerts; this one sends none")
	default:
		out.alerts = alert.New(c.Alerts, answers.AlertSource(out.advisor, c.HideBounds), a.store, alert.Options{Log: c.Log})
	}
	return out
}

// runAlerts sends alerts until the context ends, if there are receivers.
func (a advising) runAlerts(ctx context.Context) error {
	if a.alerts == nil {
		return nil
	}
	return a.alerts.Run(ctx)
}
