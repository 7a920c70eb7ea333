package app

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"shardboard/internal/auth"
	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web"
	access "shardboard/web/guard"
	"shardboard/web/site"
)

// Direct answers the API's questions from the cluster, without a server: it connects, reads once and
// keeps nothing. The answers are those of the server's own routes, so both ways cannot differ. What only
// a server knows (history, counted writes, runs) is missing.
type Direct struct {
	client  *cluster.Client
	config  Config
	watcher *topology.Watcher
	keeper  *placement.Keeper
	advisor *rules.Advisor
	handler http.Handler
}

// OpenDirect connects and reads everything once. Close it.
func OpenDirect(ctx context.Context, c Config) (*Direct, error) {
	client, err := connect(ctx, c.cluster())
	if err != nil {
		return nil, err
	}
	c.Watcher.Log = c.Log
	prof := c.cluster().profile()
	d := &Direct{client: client, config: c, watcher: topology.NewWatcher(client, c.Watcher)}
	d.keeper = placement.NewKeeper(client, d.watcher, prof, c.Log)
	d.advisor = rules.NewAdvisor(rules.Sources{Tables: d.watcher, Directories: d.keeper, Profile: prof, Log: c.Log})
	if _, err := d.watcher.Load(ctx); err != nil {
		return nil, errors.Join(err, d.Close(ctx))
	}
	d.readRest(ctx)
	d.handler = web.New(site.Deps{
		Log: slog.New(slog.DiscardHandler), Version: c.Version,
		Cluster: site.ClusterDeps{Watcher: d.watcher, Keeper: d.keeper, Profile: prof, Target: c.URI.String(), Once: true},
		Locate: site.LocateDeps{
			Locator: placement.NewLocator(client, d.watcher, d.keeper, prof), Prover: placement.NewProver(client, d.watcher), Owners: client,
		},
		Problems: site.ProblemDeps{Advice: d.advisor},
		Access:   site.AccessDeps{Auth: localUser{}},
	}).Handler()
	return d, nil
}

// readRest reads what the routing table does not have. What cannot be read is unknown in the answers.
func (d *Direct) readRest(ctx context.Context) {
	d.watcher.LoadSizes(ctx)
	d.keeper.Poll(ctx, d.config.cluster().profile().Match(d.watcher.Table()))
	d.advisor.Refresh()
}

// Unread are the names of what could not be read, or may not be: their figures are unknown in the answers.
func (d *Direct) Unread() []string {
	var out []string
	for part, h := range d.watcher.Table().Health {
		if h.Err != nil {
			out = append(out, part.Name())
		}
	}
	if d.keeper.Directory().Health().Err != nil {
		out = append(out, "Projects")
	}
	slices.Sort(out)
	return out
}

// Refresh reads everything again. After an error the answers are the former ones.
func (d *Direct) Refresh(ctx context.Context) error {
	if err := d.watcher.Refresh(ctx); err != nil {
		return err
	}
	d.readRest(ctx)
	return nil
}

// Close disconnects.
func (d *Direct) Close(ctx context.Context) error { return d.client.Close(context.WithoutCancel(ctx)) }

// Remote is the API.
func (d *Direct) Remote() Remote {
	return Remote{base: &url.URL{Scheme: "http", Host: "localhost"}, direct: inProcess{d.handler}}
}

// localUser is whoever runs the program: the cluster's own privileges are the limit.
type localUser struct{ access.Nobody }

func (localUser) Mode() auth.Mode { return auth.ModeNone }

func (localUser) Identify(http.ResponseWriter, *http.Request) (auth.Principal, error) {
	return auth.Local(), nil
}

func (localUser) Check(context.Context, auth.Principal) error { return nil }

// inProcess sends requests to a handler instead of a network.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	out := &answerInMemory{header: http.Header{}, status: http.StatusOK}
	r = r.Clone(r.Context())
	r.RequestURI, r.RemoteAddr, r.Host = r.URL.RequestURI(), "127.0.0.1:0", r.URL.Host
	p.handler.ServeHTTP(out, r)
	return &http.Response{StatusCode: out.status, Status: http.StatusText(out.status), Header: out.header, Request: r,
		Body: io.NopCloser(&out.body), ContentLength: int64(out.body.Len()), ProtoMajor: 1, ProtoMinor: 1}, nil
}

// answerInMemory is the http.ResponseWriter of inProcess.
type answerInMemory struct {
	header http.Header
	status int
	begun  bool
	body   bytes.Buffer
}

func (a *answerInMemory) Header() http.Header { return a.header }

func (a *answerInMemory) WriteHeader(status int) {
	if !a.begun {
		a.status, a.begun = status, true
	}
}

func (a *answerInMemory) Write(text []byte) (int, error) {
	a.begun = true
	return a.body.Write(text)
}
