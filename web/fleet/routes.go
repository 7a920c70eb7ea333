package fleet

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Routes of a server of several clusters.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/", Summary: "Which cluster needs somebody now?", Policy: guard.PolicySelf, Handler: Page,
		Params: []site.Param{site.Query("to", "a page of each cluster, to which the links lead")},
		Topic:  site.Topic{Kind: "clusters", State: state}}),
	site.Question[api.List[api.ClusterSummary]]{
		Route: site.Route{Pattern: "/clusters", Summary: "All clusters that the caller may see, worst first", Policy: guard.PolicySelf},
		Page:  Page, Ask: list,
	},
	site.Question[api.List[api.ClusterLocate]]{
		Route: site.Route{Pattern: "/locate", Summary: "Which cluster has it, and on which shard?", Policy: guard.PolicySelf,
			Params: []site.Param{site.Query("q", "project/key, project or id; with ns a value of its shard key"),
				site.Query("ns", "namespace, with key"), site.Query("key", "shard key in Extended JSON, with ns"),
				site.Query("near", "1 lists projects with near names where there is none of this name")}},
		Page: LocatePage, Ask: locate, For: "Asks each cluster that the caller may see, 5 seconds at most; found first",
	},
	site.Page(site.Route{Pattern: "/locate/bulk", Summary: "Locate many lines in all clusters", Policy: guard.PolicySelf, Handler: LinesPage}),
	site.Form(site.Route{Pattern: "/locate/bulk", Summary: "Locate up to 1,000 lines in all clusters, as a page or as CSV",
		Policy: guard.PolicySelf, Handler: LinesForm, Types: []string{site.MediaHTML, site.MediaCSV}, Status: []int{http.StatusOK},
		MaxBody: answer.MaxLocate}),
	site.Post(site.Route{Pattern: "/locate", Summary: "Locate up to 1,000 lines in all clusters", Policy: guard.PolicySelf, Handler: LinesJSON,
		MaxBody: answer.MaxLocate, Body: api.LocateRequest{}, Takes: []string{site.MediaText}, Answer: api.ClusterLocateLines{},
		Types: []string{site.MediaJSON, site.MediaCSV}}),
)

// Page lists the clusters, worst first.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v := s.ViewFor(r)
	sh := s.Shell(r, v, "clusters", "Clusters", "clusters")
	sh.CSV = "/clusters.csv"
	rows := clustersFor(r.Context(), s, auth.From(r.Context()))
	to := s.InClusters(r.URL.Query().Get("to"))
	return site.WritePage(w, r, http.StatusOK, page(sh, rows, s.Deps.Place.Clusters.Configuration(), v.Now, to))
}

// state is what the page shows to whoever sees all of it, without what only grows older. It is compared
// and never sent: each browser reads the page again, as far as its reader may see it.
func state(ctx context.Context, s *site.Site) string {
	var out strings.Builder
	for _, c := range s.Deps.Place.Clusters.All() {
		row := rowOf(ctx, c, auth.Admin, auth.Principal{ID: "live", Role: auth.Admin})
		row.ReadAt = nil
		fmt.Fprintln(&out, row.Name, row.Title, row.State, row.Text, row.Since, row.ServerVersion, number(row.Shards),
			templates.Bytes(row.Bytes).Text, row.Balancer, row.Problems, row.Worst, number(row.OpenRuns), number(row.OpenAlerts))
	}
	c := s.Deps.Place.Clusters.Configuration()
	fmt.Fprintf(&out, "%v %s %v %v", c.Loaded, c.Problem, c.Pending, c.Left)
	return out.String()
}
