package main

import (
	"context"
	"fmt"
	"time"

	"shardboard/internal/app"
)

// clusterFlags say which cluster a command talks to.
type clusterFlags struct {
	URI     string `name:"uri" env:"SHARDBOARD_URI" help:"mongodb:// address of a mongos. Prefer a file or the environment when it holds a password."`
	URIFile string `name:"uri-file" env:"SHARDBOARD_URI_FILE" help:"File that holds the address."`
}

func (f clusterFlags) config(e *env) (app.Config, error) {
	uri, err := app.ReadURI(f.URI, f.URIFile)
	if err != nil {
		return app.Config{}, err
	}
	return app.Config{URI: uri, Version: version, Log: e.log}, nil
}

type serveCmd struct {
	clusterFlags `embed:""`
	Listen       string   `default:"127.0.0.1:8090" help:"Address for browsers; loopback only."`
	Host         []string `name:"host" help:"Host name to accept besides loopback, as a tunnel or proxy sends it."`
}

func (c serveCmd) Run(e *env) error {
	config, err := c.config(e)
	if err != nil {
		return err
	}
	config.Listen, config.Hosts = c.Listen, c.Host
	a, err := app.New(e.ctx, config)
	if err != nil {
		return err
	}
	a.Start()
	fmt.Fprintf(e.stdout, "shardboard is at %s\n", a.URL())
	return waitAndStop(e, a)
}

// waitAndStop runs until a signal or a failed part.
func waitAndStop(e *env, a *app.App) error {
	done := make(chan error, 1)
	go func() { done <- a.Wait() }()
	var failed error
	select {
	case <-e.ctx.Done():
	case failed = <-done:
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	if err := a.Stop(ctx); failed == nil {
		failed = err
	}
	return failed
}
