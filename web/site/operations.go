package site

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/guard"
)

// operation is a route of the site itself.
func operation(rt Route) Route {
	rt.Method, rt.Tag = http.MethodGet, TagOperations
	return rt
}

// Updates is the route of the live updates.
func Updates() []Route {
	return []Route{operation(Route{Pattern: "/live", Policy: guard.PolicyRead, Summary: "Live updates (WebSocket)", Stream: true,
		Status: []int{http.StatusSwitchingProtocols, http.StatusOK},
		Params: []Param{Query("t", "topics, comma-separated, each with the version that the browser has: overview@12,zones"),
			Query("poll", "1: no WebSocket, but an array of the frames that one would get at once")},
		Types: []string{MediaJSON}, Handler: live})}
}

// Operations are the routes of the server itself: its data directory, its health, its
// description and its files. Whoever takes the directory over
// decides which process carries out runs, so only an admin may.
func Operations() []Route {
	static := func(pattern, summary string) Route {
		return operation(Route{Pattern: pattern, Policy: guard.PolicyOpen, Summary: summary, Stream: true, Quiet: true,
			Params: []Param{InPath("file", "name with hash")}, Types: []string{"text/css", "text/javascript", "image/svg+xml"},
			Status: []int{http.StatusOK, http.StatusTemporaryRedirect}, Handler: serveStatic})
	}
	return Table(
		Change[struct{}, api.DataDirectory]{
			Route: Route{Pattern: "/data/takeover", Summary: "Own the data directory after its owner has ended", Policy: guard.PolicyAdmin},
			Do:    takeOver, Leads: func(*http.Request, api.DataDirectory) string { return "/" },
		},
		Asked(Route{Pattern: "/data", Summary: "Whether this server can store anything, and why not"}, dataDirectory),

		operation(Route{Pattern: "/api/openapi.json", Policy: guard.PolicyOpen, Summary: "This description", Answer: map[string]any{},
			Handler: serveOpenAPI}),
		operation(Route{Pattern: "/healthz", Policy: guard.PolicyOpen, Summary: "Is it serving?", Types: []string{MediaText}, Quiet: true,
			Handler: Healthz}),
		operation(Route{Pattern: "/readyz", Policy: guard.PolicyOpen, Summary: "Is there something to show, and can everything be stored?",
			Params: []Param{Query("cluster", "required: not ready while the cluster is not reached")}, Quiet: true,
			Status: []int{http.StatusOK, http.StatusServiceUnavailable}, Answer: api.Ready{}, Handler: readyz}),
		operation(Route{Pattern: "/metrics", Policy: guard.PolicyNear, Summary: "Prometheus metrics", Types: []string{MediaText}, Quiet: true,
			Handler: serveMetrics}),
		static("/static/{file}", "Own style sheet and icon, by content hash"),
		static("/static/js/{file}", "Own scripts, by content hash"),
	)
}
