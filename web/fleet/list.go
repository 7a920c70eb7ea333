// Package fleet shows all clusters of a server of several: which one needs somebody now?
package fleet

import (
	"context"
	"net/http"
	"sync"
	"time"

	"shardboard/internal/alert"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// runsWait bounds the reading of a cluster's open runs.
const runsWait = time.Second

// list is the clusters that the caller may see, worst first.
func list(s *site.Site, r *http.Request) (out api.List[api.ClusterSummary], err error) {
	out.Items = clustersFor(r.Context(), s, auth.From(r.Context()))
	out.AsOf = s.Deps.Now()
	return out, nil
}

// clustersFor makes the rows of all clusters at once, because each may read its runs from the store.
func clustersFor(ctx context.Context, s *site.Site, who auth.Principal) []api.ClusterSummary {
	if s.Deps.Place.Clusters == nil {
		return nil
	}
	var rows []*api.ClusterSummary
	var all sync.WaitGroup
	for _, c := range s.Deps.Place.Clusters.All() {
		role, sees := c.Role(who)
		if !sees {
			continue
		}
		row := new(api.ClusterSummary)
		rows = append(rows, row)
		all.Go(func() { *row = rowOf(ctx, c, role, who) })
	}
	all.Wait()
	out := make([]api.ClusterSummary, len(rows))
	for i, row := range rows {
		out[i] = *row
	}
	problems.WorstFirst(out)
	return out
}

// rowOf is a cluster as somebody with a role on it may see it.
func rowOf(ctx context.Context, c *site.Cluster, role auth.Role, who auth.Principal) api.ClusterSummary {
	var row api.ClusterSummary
	switch {
	case c.Site != nil:
		who.Role = role
		row = problems.ClusterOf(c.Site.ViewBy(who))
		row.OpenRuns, row.OpenAlerts = openRuns(ctx, c.Site), openAlerts(c.Site)
		if row.WorstURL != "" {
			row.WorstURL = api.Address(c.Site.Address(string(row.WorstURL)))
		}
	case c.Failure != nil:
		row = withoutSite(problems.ClusterUnreachable, c.Failure)
	default:
		row = withoutSite(problems.ClusterStarting, nil)
	}
	row.Name, row.Title, row.URL, row.Role = c.Name, c.Title, api.Address(c.Base()+"/"), string(role)
	row.StateText = problems.ClusterStateText(row.State)
	switch {
	case c.Site == nil && c.Failure != nil:
		row.Since = api.Time(c.Since)
	case c.Reach.Known && c.Reach.Yes == (row.State != problems.ClusterUnreachable):
		row.Since = api.Time(c.Reach.Since)
	}
	return row
}

// withoutSite is a cluster whose parts there are not.
func withoutSite(state string, failure error) api.ClusterSummary {
	row := api.ClusterSummary{State: state, Balancer: "unknown", Bytes: api.Figure{Reason: "notLoaded"},
		Documents: api.Figure{Reason: "notLoaded"}}
	if failure != nil {
		row.Text = fault.Text(failure)
		if kind := fault.Of(failure); kind == fault.Invalid || kind == fault.Conflict || kind == fault.Internal {
			row.State = problems.ClusterFailed
		}
	}
	return row
}

// openRuns counts runs that have not ended; nil where there are none by configuration, or they cannot be read.
func openRuns(ctx context.Context, s *site.Site) *int {
	if s.Deps.Changes.Actions == nil || s.Deps.Cluster.Watcher.Table().ClusterID == "" { // runs belong to an id
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, runsWait)
	defer cancel()
	runs, err := s.Deps.Changes.Actions.OpenRuns(ctx)
	if err != nil {
		return nil
	}
	n := len(runs)
	return &n
}

// openAlerts counts alerts that were sent and are not over.
func openAlerts(s *site.Site) *int {
	if s.Deps.Problems.Alerts == nil {
		return nil
	}
	n := 0
	for _, a := range s.Deps.Problems.Alerts.Status().Alerts {
		if a.State == alert.Firing {
			n++
		}
	}
	return &n
}
