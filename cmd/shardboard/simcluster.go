package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// simFlags are the flags of both demo and simcluster.
type simFlags struct {
	Seed          int64     `default:"7" help:"Seed of the data and of everything that happens in the cluster."`
	Epoch         time.Time `help:"Time at which the data ends (RFC 3339); default: now."`
	Shards        int       `default:"3" help:"Number of shards, named shard-rs-1, shard-rs-2 and so on."`
	Layout        string    `default:"yorkie-head" enum:"yorkie-head,yorkie-0.6.38,yorkie-0.6.20,yorkie-0.5.7,yorkie-0.4" help:"How the collections are sharded, by Yorkie's releases: yorkie-head, yorkie-0.6.38, yorkie-0.6.20, yorkie-0.5.7 or yorkie-0.4."`
	Database      string    `default:"yorkie-meta" help:"Database that holds the data."`
	Projects      int       `default:"60" help:"Number of projects."`
	Documents     int       `default:"20000" help:"Number of Yorkie documents in all."`
	ServerVersion string    `default:"8.0" help:"MongoDB version to behave like."`
	ConfigShard   bool      `help:"The config server is a shard too (8.0)."`
	ShardUUIDs    bool      `name:"shard-uuids" help:"Chunks name their shard by UUID (8.0)."`
	Pace          float64   `default:"1" help:"Factor for the time that moves and balancer rounds take; 0.1 is ten times as fast."`
	Still         bool      `help:"Nothing moves by itself: no balancer, no writers, no operator."`
	Empty         bool      `help:"Start without any user database."`
}

func (f simFlags) options(e *env) (simcluster.Options, error) {
	switch {
	case f.Shards < 1 || f.Shards > 100:
		return simcluster.Options{}, fault.New(fault.Invalid, "--shards must be between 1 and 100.")
	case f.Projects < 1 || f.Projects > 100_000:
		return simcluster.Options{}, fault.New(fault.Invalid, "--projects must be between 1 and 100000.")
	case f.Pace <= 0:
		return simcluster.Options{}, fault.New(fault.Invalid, "--pace must be greater than 0.")
	case f.Documents < 0 || f.Documents > 10_000_000:
		return simcluster.Options{}, fault.New(fault.Invalid, "--documents must be between 0 and 10000000.")
	}
	documents := f.Documents
	if documents == 0 {
		documents = -1 // in Options, zero means the default
	}
	return simcluster.Options{
		Seed: f.Seed, Epoch: f.Epoch, Shards: f.Shards, Layout: f.Layout, Database: f.Database,
		Projects: f.Projects, Documents: documents, ServerVersion: f.ServerVersion,
		Pace: f.Pace, Still: f.Still, Empty: f.Empty, Log: e.log,
		ConfigShard: f.ConfigShard, ShardUUIDs: f.ShardUUIDs,
	}, nil
}

// users reads the users of the cluster. Passwords come from a file, because everybody on the
// machine can read command lines.
func (c simclusterCmd) users() ([]access.User, error) {
	if c.Auth != (c.UserFile != "") {
		return nil, fault.New(fault.Invalid, "--auth and --user-file go together.")
	}
	if !c.Auth {
		return nil, nil
	}
	text, err := app.ReadSecret("users", c.UserFile)
	if err != nil {
		return nil, err
	}
	users, err := access.ReadUsers(strings.NewReader(text))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The user file cannot be read: %v.", err)
	}
	if len(users) == 0 {
		return nil, fault.New(fault.Invalid, "The user file is empty, so nobody could sign in.")
	}
	return users, nil
}

type simclusterCmd struct {
	simFlags `embed:""`
	Listen   string `default:"127.0.0.1:27117" help:"Address for MongoDB drivers."`
	Auth     bool   `help:"Require clients to sign in; needs --user-file."`
	UserFile string `help:"File of users, a line each: name, password (or $$external for the subject of a client certificate) and roles such as clusterMonitor or read@db (none: root)."`

	simTLSFlags `embed:""`

	MigrationTime time.Duration `help:"Shortest time that the copying of a move takes, such as 10s; --pace does not change it."`
	OrphanDelay   time.Duration `default:"15m" help:"How long a shard keeps the documents of a chunk that has moved away."`
	Lifetime      time.Duration `name:"transaction-lifetime" default:"1m" help:"How long a transaction may stay open."`
	Sessions      bool          `help:"Have config.system.sessions, which the balancer cuts into 1,024 chunks a minute after the start and spreads, as on a new cluster."`
	Interfere     string        `default:"none" enum:"none,busy-balancer,moves-out-of-zones" help:"What else happens in the cluster: none, busy-balancer (a move in every round), moves-out-of-zones (somebody else works against the zones, the balancer follows)."`
	ManyChunks    int           `name:"many-chunks" placeholder:"N" help:"Add a collection, many.chunks, with N chunks that never change. They take no memory, whatever their number."`
	Faults        bool          `help:"Let clients plant faults with the command simulateFault."`
}

func (c simclusterCmd) Run(e *env) error {
	o, err := c.options(e)
	if err != nil {
		return err
	}
	if o.Users, err = c.users(); err != nil {
		return err
	}
	if c.MigrationTime < 0 || c.OrphanDelay <= 0 {
		return fault.New(fault.Invalid, "--migration-time must not be negative, --orphan-delay must be greater than 0.")
	}
	if c.Lifetime <= 0 {
		return fault.New(fault.Invalid, "--transaction-lifetime must be greater than 0.")
	}
	if o.TLS, err = c.config(); err != nil {
		return err
	}
	o.TransactionLifetime = c.Lifetime
	if c.ManyChunks < 0 || c.ManyChunks > simcluster.MostManyChunks {
		return fault.New(fault.Invalid, "--many-chunks must be between 0 and %d.", simcluster.MostManyChunks)
	}
	o.ManyChunks = c.ManyChunks
	o.Migration, o.OrphanDelay, o.FaultCommand, o.Sessions = c.MigrationTime, c.OrphanDelay, c.Faults, c.Sessions
	sim, l, err := startSim(e, o, c.Listen, "--listen")
	if err != nil {
		return err
	}
	defer sim.Close()
	if c.Interfere != "none" {
		if _, err := sim.Interfere(simcluster.Interference{Kind: simcluster.InterferenceKind(c.Interfere)}); err != nil {
			return fault.Wrap(fault.Invalid, err, "The interference could not begin: %v.", err)
		}
	}
	uri := mongoURI(l)
	if o.TLS != nil {
		uri += "&tls=true"
	}
	fmt.Fprintf(e.stdout, "%s\n", uri)
	if near, err := app.ListensOnLoopback(l.Addr().String()); err != nil || !near && !c.Auth {
		fmt.Fprintf(
			e.stderr,
			"Other machines can connect to %s without signing in and have all privileges. Use --auth and --user-file, or listen on loopback.\n",
			l.Addr(),
		)
	}
	return serveSim(e, sim, l)
}

// startSim starts a cluster.
func startSim(e *env, o simcluster.Options, listen, flag string) (*simcluster.Cluster, net.Listener, error) {
	sim, l, err := listenSim(e, o, listen, flag)
	if err == nil {
		sim.Start(context.WithoutCancel(e.ctx)) // ended by Close
	}
	return sim, l, err
}

// listenSim loads the data before it opens the listener, so that clients find everything. Nothing
// happens in the cluster by itself before its Start. The flag is where the address comes from.
func listenSim(e *env, o simcluster.Options, listen, flag string) (*simcluster.Cluster, net.Listener, error) {
	sim, err := simcluster.New(e.ctx, o)
	if err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "The simulated cluster could not be created: %v.", err)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		sim.Close()
		return nil, nil, fault.Wrap(fault.Unavailable, err, "Cannot listen on %s for MongoDB drivers: %v. Choose another address with %s.",
			listen, err, flag)
	}
	return sim, l, nil
}

// serveSim serves drivers until the context ends.
func serveSim(e *env, sim *simcluster.Cluster, l net.Listener) error {
	done := make(chan error, 1)
	go func() { done <- sim.Serve(l) }()
	select {
	case <-e.ctx.Done():
		_ = sim.Close()
		<-done
		return nil
	case err := <-done:
		return err
	}
}

func mongoURI(l net.Listener) string {
	return "mongodb://" + l.Addr().String() + "/?directConnection=true"
}
