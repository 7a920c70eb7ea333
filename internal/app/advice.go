package app

import (
	"context"

	"shardboard/internal/alert"
	"shardboard/internal/rules"
	"shardboard/web"
)

// advising looks at what is wrong and tells of it.
type advising struct {
	advisor *rules.Advisor
	alerts  *alert.Engine // nil: nobody is told
}

// newAdvising has the rules look at what the other parts know. Of several
// processes over the same data, the owner alone sends alerts: each would tell of
// everything.
func (a *instance) newAdvising(c Config) advising {
	out := advising{advisor: rules.NewAdvisor(rules.Sources{
		Tables: a.watcher, Directories: a.keeper, Profile: c.profile(), Heat: a.heat, Past: a.history.past, Notices: a.store, Surveys: a.surveys, Pins: a.pinsOfPlans(), Paused: a.pausedBalancing(), Log: c.Log,
	})}
	switch {
	case c.Alerts == nil:
	case !a.store.Owner():
		c.Log.Warn("another shardboard owns the data and sends the alerts; this one sends none")
	default:
		out.alerts = alert.New(c.Alerts, web.AlertSource(out.advisor, c.HideBounds), a.store, alert.Options{Log: c.Log})
	}
	return out
}

// tell runs the alerts, where there are any.
func (a advising) tell(ctx context.Context) error {
	if a.alerts == nil {
		return nil
	}
	return a.alerts.Run(ctx)
}
