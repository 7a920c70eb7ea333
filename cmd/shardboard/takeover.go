package main

import (
	"fmt"

	"shardboard/internal/sanitize"
)

type takeoverCmd struct {
	remoteFlags `embed:""`
}

// Run makes a read-only server the owner of the data directory.
func (c takeoverCmd) Run(e *env) error {
	at, err := c.remote()
	if err != nil {
		return err
	}
	if err := at.TakeOver(e.ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "The shardboard at %s owns the data directory now.\n", sanitize.Line(c.Server))
	return err
}
