package main

import (
	"fmt"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

type alertsCmd struct {
	Test alertsTestCmd `cmd:"" help:"Send a test message to one alert receiver. Needs the role admin. Exits with 6 if it was not delivered."`
}

type alertsTestCmd struct {
	remoteFlags `embed:""`
	Receiver    string `arg:"" help:"Name of the receiver, as in the alerts file and on the page /alerts."`
}

// Run sends the message and prints its outcome.
func (c alertsTestCmd) Run(e *env) error {
	at, err := c.remote()
	if err != nil {
		return err
	}
	list, err := at.TestAlerts(e.ctx, c.Receiver)
	if err != nil {
		return err
	}
	for _, t := range list.Targets {
		if t.Name != c.Receiver || t.Last == nil {
			continue
		}
		if t.Last.Code != "ok" {
			return fault.New(fault.Unavailable, "%s: %s.", t.Name, t.Last.Text)
		}
		_, err = fmt.Fprintf(e.stdout, "%s: %s.\n", sanitize.Line(t.Name), t.Last.Text)
		return err
	}
	return fault.New(fault.NotFound, "No receiver of alerts has that name.")
}
