package main

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"shardboard/internal/fault"
)

type healthcheckCmd struct {
	Server string `default:"http://127.0.0.1:8090" env:"SHARDBOARD_SERVER" help:"Address of the running server."`
	Ready  bool   `help:"Also require that the routing table and the projects are loaded."`
}

func (c healthcheckCmd) Run(e *env) error {
	path := "/healthz"
	if c.Ready {
		path = "/readyz?cluster=required"
	}
	ctx, cancel := context.WithTimeout(e.ctx, 2500*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.Server, "/")+path, nil)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The server address is not a URL.")
	}
	// A redirect is no answer: what it leads to may be another server's.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "No server answers at %s.", c.Server)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
	if res.StatusCode != http.StatusOK {
		return fault.New(fault.Unavailable, "The server at %s answers %s to %s.", c.Server, res.Status, path)
	}
	return nil
}
