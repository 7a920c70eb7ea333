package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// sourceFlags select where answers come from: a running server, or the cluster itself.
type sourceFlags struct {
	Server       string `env:"SHARDBOARD_SERVER" placeholder:"URL" help:"Address of a running server; default http://127.0.0.1:8090. A token for it is read from SHARDBOARD_TOKEN, or from the file that SHARDBOARD_TOKEN_FILE names."`
	Cluster      string `name:"cluster" env:"SHARDBOARD_CLUSTER" placeholder:"NAME" help:"Which cluster, of a server of several. An address that ends in /c/NAME says it too."`
	clusterFlags `embed:""`
}

const (
	defaultServer = "http://127.0.0.1:8090"
	// directTimeout bounds the first reading of a cluster: it is long because there are clusters with millions of chunks.
	directTimeout = 10 * time.Minute
)

// source is the API, of a server or answered from the cluster.
type source struct {
	remote app.Remote
	direct *app.Direct // nil: a server
}

// isDirect reports whether the cluster is to be asked: by a flag, or by the environment where that names
// no server.
func (f sourceFlags) isDirect(e *env) (bool, error) {
	address, server := e.given("uri") || e.given("uri-file"), e.given("server")
	switch {
	case address && server:
		return false, fault.New(fault.Invalid, "Give a server by --server or a cluster by --uri, not both.")
	case address || server:
		return address, nil
	}
	return f.Server == "" && (f.URI != "" || f.URIFile != ""), nil
}

// open connects. needs is why only a server can answer; "" if the cluster is enough.
func (f sourceFlags) open(e *env, needs string) (source, error) {
	direct, err := f.isDirect(e)
	if err != nil {
		return source{}, err
	}
	if !direct {
		server := f.Server
		if server == "" {
			server = defaultServer
		}
		remote, err := app.ReadRemote(server, os.Getenv("SHARDBOARD_TOKEN"), os.Getenv("SHARDBOARD_TOKEN_FILE"))
		if err == nil {
			remote, err = remote.Of(f.Cluster)
		}
		return source{remote: remote}, err
	}
	if needs != "" {
		return source{}, fault.New(fault.Invalid, "%s, so only a running server knows this: ask it with --server.", needs)
	}
	config, err := f.config(e)
	if err != nil {
		return source{}, err
	}
	if !e.given("log-level") { // what could not be read is noted once, below
		config.Log = e.logAt(slog.LevelError)
	}
	ctx, cancel := context.WithTimeout(e.ctx, directTimeout)
	defer cancel()
	opened, err := app.OpenDirect(ctx, config)
	if err != nil {
		return source{}, err
	}
	if unread := opened.Unread(); len(unread) > 0 {
		e.note("Not everything could be read: %s. shardboard doctor says which privileges are missing.", strings.Join(unread, ", "))
	}
	return source{remote: opened.Remote(), direct: opened}, nil
}

// refresh reads the cluster again; a server does that by itself.
func (s source) refresh(ctx context.Context) error {
	if s.direct == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, directTimeout)
	defer cancel()
	return s.direct.Refresh(ctx)
}

func (s source) close(ctx context.Context) {
	if s.direct != nil {
		_ = s.direct.Close(ctx) // nothing was written
	}
}
