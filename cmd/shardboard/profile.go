package main

import (
	"context"
	"log/slog"
	"time"

	"shardboard/internal/app"
)

type profileCmd struct {
	Propose profileProposeCmd `cmd:"" help:"Propose a profile for data that fits none, as the file that --profile reads. Exits with 3 if nothing is found."`
}

type profileProposeCmd struct {
	clusterFlags `embed:""`
	Database     string `help:"Database to look at; default: the one with most shard keys that begin with the same field."`
	Tenant       string `help:"Field with the tenant; default: the field that most shard keys begin with."`
}

const proposeTimeout = 2 * time.Minute

func (c profileProposeCmd) Run(e *env) error {
	config, err := c.config(e)
	if err != nil {
		return err
	}
	if !e.given("log-level") { // what could not be read is in the answer
		config.Log = e.logAt(slog.LevelError)
	}
	ctx, cancel := context.WithTimeout(e.ctx, proposeTimeout)
	defer cancel()
	p, err := app.Propose(ctx, config, app.ProposeOptions{Database: c.Database, Tenant: c.Tenant})
	if err == nil {
		err = p.Nothing()
	}
	if err != nil {
		return err
	}
	for _, text := range p.Unread {
		e.note("%s", text)
	}
	_, err = e.stdout.Write(p.YAML())
	return err
}
