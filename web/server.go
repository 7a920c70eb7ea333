package web

import (
	"context"
	"net/http"
	"sync"

	"shardboard/web/live"
	"shardboard/web/site"
)

// Server is the whole site: pages, API and live updates. Safe for concurrent use.
type Server struct {
	*site.Site
	Hub *live.Hub // the open sockets
}

// New wires a server and starts nothing.
func New(deps site.Deps) *Server {
	deps.Place.Base.Server, deps.Place.ClusterPage = serverParts(), clusterPage
	s := &Server{Site: site.WireSite(deps, served(deps))}
	s.OpenAPI = sync.OnceValue(func() []byte { return site.OpenAPIDocument(described(deps), deps.Version, deps.Place.Base.Root) })
	s.Hub = live.NewHub(s.Site)
	s.Sockets = s.Hub.Sockets
	s.ServeLive = func(w http.ResponseWriter, r *http.Request) error { return s.Hub.Serve(w, r) }
	return s
}

// Run feeds the open sockets until ctx ends or Close is called, then closes
// them and waits for them. http.Server.Shutdown knows nothing of hijacked
// sockets: end Run first.
func (s *Server) Run(ctx context.Context) error {
	_, tables, cancelTables := s.Deps.Cluster.Watcher.Subscribe()
	defer cancelTables()
	if s.Deps.Place.Clusters != nil && s.Deps.Place.Name == "" { // the server's own pages, which show no table
		news, end := s.Deps.Place.Clusters.Subscribe()
		defer end()
		tables = news
	}
	_, dirs, cancelDirs := s.Deps.Cluster.Keeper.Subscribe()
	defer cancelDirs()
	var runs <-chan struct{}
	if s.Deps.Changes.Actions != nil {
		told, cancelRuns := s.Deps.Changes.Actions.Subscribe()
		defer cancelRuns()
		runs = told
	}
	var pins <-chan struct{}
	if s.Deps.Changes.Pins != nil {
		told, cancelPins := s.Deps.Changes.Pins.Subscribe()
		defer cancelPins()
		pins = told
	}
	var outcomes <-chan struct{}
	if s.Deps.Changes.Outcomes != nil {
		told, cancelOutcomes := s.Deps.Changes.Outcomes.Subscribe()
		defer cancelOutcomes()
		outcomes = told
	}
	problems, cancelProblems := s.Deps.Problems.Advice.Subscribe()
	defer cancelProblems()
	return s.Hub.Run(ctx, tables, dirs, runs, pins, outcomes, problems)
}

// CheckSockets checks at once whoever has a socket open, because roles have changed.
func (s *Server) CheckSockets() { s.Hub.CheckAll() }

// Close ends Run and waits until the last socket is gone. New sockets are
// refused from then on; other requests still work.
func (s *Server) Close() { s.Hub.Close() }
