package main

import (
	"context"
	"fmt"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

type demoCmd struct {
	simFlags    `embed:""`
	Listen      string `default:"127.0.0.1:8090" help:"Address for browsers; loopback only."`
	MongoListen string `default:"127.0.0.1:27117" help:"Address for any MongoDB driver; loopback only."`
	Actions     string `enum:"off,on" default:"on" env:"SHARDBOARD_ACTIONS" help:"Whether the simulated cluster may be changed from the dashboard: off or on."`
}

// Help tells a newcomer what the demo shows.
func (demoCmd) Help() string {
	return "It needs nothing else: the cluster is simulated in this process. It starts with a day behind it: where everything was, heat, " +
		"moves with some failures, runs with an undo, and an alert that has ended. One project is hot from the start; the " +
		"overview names it and a plan that helps. A tour on the overview leads through it: locate, heat, plan, proof, undo.\n\n" +
		"--still, --empty and --epoch start without the day behind it. Nothing is kept after the end."
}

// Run starts the simulated cluster and the dashboard. They share only the TCP connection, so the
// dashboard sees what any driver would.
func (c demoCmd) Run(e *env) error {
	switch near, err := app.ListensOnLoopback(c.MongoListen); {
	case err != nil:
		return err
	case !near:
		return fault.New(
			fault.Invalid,
			"Refusing to listen on %q for MongoDB drivers: the cluster of a demo has no sign-in, so it is for this machine only. Choose "+
				"a --mongo-listen on loopback (127.0.0.1, ::1 or localhost), or run shardboard simcluster --auth.",
			c.MongoListen,
		)
	}
	// The cluster must outlive the signal that ends the dashboard, whose client still closes its
	// sessions.
	o, err := c.options(e)
	if err != nil {
		return err
	}
	past := c.Epoch.IsZero() && !c.Still && !c.Empty
	o.Busy, o.OrphanDelay = past, demoOrphanDelay
	if past {
		o.Epoch = time.Now().Add(-demoPast)
	}
	sim, l, err := listenSim(e, o, c.MongoListen, "--mongo-listen")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.ctx))
	defer cancel()
	cluster := *e
	cluster.ctx = ctx
	served := make(chan error, 1)
	go func() { served <- serveSim(&cluster, sim, l) }()

	err = c.dashboard(e, sim, mongoURI(l), past)
	cancel()
	<-served
	return err
}

// demoOrphanDelay is how long a shard keeps what a move left behind, in proportion to the demo's chunks of
// 1 MiB instead of 64: they are split and moved so often that with the default of 15 minutes, in which a
// range cannot come back, the balancer of every demo would fail again and again.
const demoOrphanDelay = 15 * time.Second

// demoHoldingsPerMinute is how many documents a minute are read to estimate what projects hold: five
// times as many as from a real cluster, so that a visitor sees good figures after a minute.
const demoHoldingsPerMinute = 6000

// dashboard serves the dashboard over a cluster that it starts, with a past if there shall be one.
func (c demoCmd) dashboard(e *env, sim *simcluster.Cluster, uri string, past bool) error {
	config, err := clusterFlags{URI: uri}.config(e)
	if err != nil {
		return err
	}
	config.Listen, config.Demo, config.Actions = c.Listen, true, c.Actions == "on"
	config.HoldingsPerMinute = demoHoldingsPerMinute
	config.MetricsProjects = "name" // nobody's, and only this machine reads them
	receiver, alerts, err := startDemoReceiver()
	if err != nil {
		return err
	}
	defer func() { _ = receiver.Close() }()
	config.Alerts = alerts
	config.Auth.Mode = "demo" // every visitor is the demo's operator; its data is temporary
	a, err := app.New(e.ctx, config)
	if err != nil {
		return err
	}
	if past {
		if err := makeDemoPast(e.ctx, sim, a, c.Database); err != nil {
			e.log.Warn("the demo's past is incomplete", "error", err)
		}
	}
	sim.Start(context.WithoutCancel(e.ctx)) // ended by Close
	a.Start()
	fmt.Fprintf(
		e.stdout,
		"dashboard  %s\nMongoDB    %s   (simulated; any driver or mongosh can connect)\nNo sign-in: everybody on this machine "+
			"is the demo's operator, and nothing is kept.\n",
		a.URL(),
		uri,
	)
	return waitAndStop(e, a)
}
