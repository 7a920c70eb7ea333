package storybook

import (
	"net/http"
	"time"

	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// ClusterScenes are the pages of a server of several clusters.
func ClusterScenes() []webtest.Scene {
	refused := webtest.Clusters()
	refused.Config.Failed = webtest.Epoch.Add(-time.Minute)
	refused.Config.Problem = "shardboard.yaml:7: there is no key uir: write uri."
	refused.Config.Pending = []string{"listen", "data-dir"}
	starting := webtest.Clusters()
	starting.List = starting.List[5:6]
	v := webtest.NewStory().View()
	inside := func(d *site.Deps) {
		d.Place.Clusters, d.Place.Name, d.Place.Title, d.Place.Base.Prefix = webtest.Clusters(), "fine", "Fine", "/c/fine"
	}
	located := webtest.Clusters()
	for _, c := range located.List[2:6] {
		c.Role = func(auth.Principal) (auth.Role, bool) { return auth.Support, true }
	}
	// Worst first, for a viewer: one in trouble, one whose cluster user may read nothing, one refused, one that
	// does not answer, one never reached and one just started; the one that they may not see is not there.
	viewer := webtest.Clusters()
	viewer.List = append(viewer.List, webtest.ClusterWith("bare", "Bare", webtest.NewStory().With(allDenied).View(), auth.Viewer))
	asViewer := func(d *site.Deps) {
		webtest.OfServer(viewer)(d)
		vera := auth.Principal{ID: "user:2", Name: "vera", Role: auth.Viewer, Method: auth.ByPassword}
		d.Access.Auth = webtest.StubAuth{SignInMode: "local", Me: vera}
	}
	lines := []func(*http.Request){func(r *http.Request) { r.Method = http.MethodPost }, webtest.Form("lines", "wiki/handbook\nnobody\n")}
	return []webtest.Scene{
		{Name: "clusters-viewer", Path: "/", View: v, Change: asViewer},
		{Name: "clusters-lead", Path: "/?to=%2Fprojects", View: v, Change: webtest.OfServer(webtest.Clusters())},
		{Name: "clusters-bulk", Path: "/locate/bulk", View: v, Change: webtest.OfServer(located), Ask: lines},
		{Name: "clusters-help", Path: "/help/hot-project", View: v, Change: webtest.OfServer(webtest.Clusters())},
		{Name: "clusters-settings", Path: "/settings", View: v, Change: withTokens},
		{Name: "clusters-locate", Path: "/locate?q=wiki/handbook", View: v, Change: webtest.OfServer(located)},
		{Name: "clusters-locate-none", Path: "/locate?q=nobody", View: v, Change: webtest.OfServer(located)},
		{Name: "clusters-locate-many", Path: "/locate?q=wiki/handbook", View: v, Change: webtest.OfServer(webtest.ManyClusters())},
		{Name: "clusters", Path: "/", View: v, Change: webtest.OfServer(webtest.Clusters())},
		{Name: "clusters-refused", Path: "/", View: v, Change: webtest.OfServer(refused)},
		{Name: "clusters-starting", Path: "/", View: v, Change: webtest.OfServer(starting)},
		{Name: "clusters-none", Path: "/", View: v, Change: webtest.OfServer(webtest.StubClusters{})},
		{Name: "clusters-many", Path: "/", View: v, Change: webtest.OfServer(webtest.ManyClusters())},
		{Name: "clusters-inside", Path: "/", View: v, Change: inside},
	}
}

// withTokens is a server of several clusters, of which somebody's tokens are bound to some.
func withTokens(d *site.Deps) {
	webtest.OfServer(webtest.Clusters())(d)
	on := func(name, title string, given, role auth.Role) auth.TokenCluster {
		return auth.TokenCluster{Name: name, Title: title, Given: given, Role: role}
	}
	made, ends := webtest.Epoch.Add(-48*time.Hour), webtest.Epoch.Add(30*24*time.Hour)
	d.Access.Auth = webtest.StubAuth{SignInMode: "local", Me: webtest.Anna, KeptTokens: []auth.Token{
		{ID: "t1", Name: "deploy", Role: auth.ClustersOnly, Owner: webtest.Anna.ID, Created: made, Expires: ends, Bound: true,
			Clusters: []auth.TokenCluster{on("prod", "Production", auth.Operator, auth.Support),
				on("gone", "gone", auth.Viewer, auth.ClustersOnly)}},
		{ID: "t2", Name: "report", Role: auth.Viewer, Owner: webtest.Anna.ID, Created: made, Expires: ends,
			Clusters: []auth.TokenCluster{on("fine", "Fine", "", auth.Viewer), on("prod", "Production", "", auth.ClustersOnly)}},
	}}
}
